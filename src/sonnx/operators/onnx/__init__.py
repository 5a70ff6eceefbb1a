"""Operators of ONNX, one folder each."""
