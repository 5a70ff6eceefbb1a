"""The rules on a model as a whole."""
