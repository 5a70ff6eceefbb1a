"""What ONNX itself has."""


def is_of_onnx(operator: str, version: int) -> bool:
    """Whether an operator set of ONNX has an operator of this name."""
    from onnx import defs  # noqa: PLC0415  whoever needs no advice need not wait until it has loaded

    return bool(defs.has(operator, version, ""))
