"""Mod: takes what a division leaves, element by element."""

from sonnx.operators.onnx.mod.contract import CONTRACT
from sonnx.operators.onnx.mod.definition import DEFINITION
from sonnx.vocabulary.operator import Operator

OPERATOR = Operator(CONTRACT, DEFINITION)
