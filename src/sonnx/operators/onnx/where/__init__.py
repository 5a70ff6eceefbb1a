"""Where: each element comes from one of two tensors, as a condition says."""

from sonnx.operators.onnx.where.contract import CONTRACT
from sonnx.operators.onnx.where.definition import DEFINITION
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(jax="numpy.where")
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
