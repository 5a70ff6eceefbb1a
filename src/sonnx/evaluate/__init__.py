"""The specification, executed."""
