"""Clip: limits the elements of a tensor to an interval."""

from sonnx.operators.onnx.clip.clauses import before
from sonnx.operators.onnx.clip.contract import CONTRACT
from sonnx.operators.onnx.clip.definition import DEFINITION
from sonnx.vocabulary.operator import Operator
from sonnx.vocabulary.trying import Trying

TRYING = Trying(jax="numpy.clip", before=before)
OPERATOR = Operator(CONTRACT, DEFINITION, trying=TRYING)
