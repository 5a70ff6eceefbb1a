"""The text of StableHLO functions: tensors, and the operations that make them."""
