"""The language in which operators are defined: terms, tensors, and the tracing of definitions."""
