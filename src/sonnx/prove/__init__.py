"""Proofs by machine: the theories of the operators by Why3, emitted C by Frama-C."""
