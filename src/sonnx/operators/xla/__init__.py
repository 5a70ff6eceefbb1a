"""The XLA operations, one folder each."""
