"""What provers are given: theories by hand, and modules written from definitions and cases."""

from sonnx.derive.why3 import theories
from sonnx.derive.why3_cases import case_theories
from sonnx.derive.why3_tensors import traces
from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import load_cases
from sonnx.prove.theories import operators_sources


def definitions() -> dict[str, str]:
    """The modules of all operators by their path: element by element, or traced for their cases."""
    return theories(OPERATORS) | traces(OPERATORS, load_cases)


def spellings() -> dict[str, str]:
    """How documents spell operators, by the folder of their theories: `Clip` by `onnx/clip`."""
    return {f"{operator.dialect}/{operator.folder}": operator.name for operator in OPERATORS}


def theory_sources() -> dict[str, str]:
    """The texts of all theories: those that people write, and the cases of operators as goals."""
    return operators_sources() | case_theories(OPERATORS, load_cases)
