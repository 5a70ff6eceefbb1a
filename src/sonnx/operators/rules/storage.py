"""How tensors are stored."""

from sonnx.vocabulary.call import Call
from sonnx.vocabulary.rule import Broken, Shown


def dense(call: Call) -> Broken | None:
    """No tensor is sparse, whatever its elements are."""
    tensors = (*call.inputs.items(), *call.outputs.items())
    sparse = tuple(Shown(name, str(tensor)) for name, tensor in tensors if tensor.sparse)
    return Broken(sparse, "make the tensor dense") if sparse else None
