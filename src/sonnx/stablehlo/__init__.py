"""Graphs as StableHLO, the language that XLA takes, and the real XLA as an engine."""
