"""Formulas that several operators share, each in its one home."""
