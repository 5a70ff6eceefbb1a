"""What provers may use beside the theories by hand: modules written from the definitions of operators."""

from sonnx.derive.why3 import theories
from sonnx.derive.why3_tensors import traces
from sonnx.operators import OPERATORS
from sonnx.operators.shared.cases import load_cases


def definitions() -> dict[str, str]:
    """The modules of all operators by their path: element by element, or traced for their cases."""
    return theories(OPERATORS) | traces(OPERATORS, load_cases)
