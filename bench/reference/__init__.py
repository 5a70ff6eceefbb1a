"""The reference engine and the check, against NumPy, ONNX's own tools and `fractions.Fraction`."""
