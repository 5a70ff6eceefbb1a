"""Graphs as StableHLO, and the real XLA that executes them."""
