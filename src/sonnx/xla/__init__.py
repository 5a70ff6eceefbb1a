"""XLA computations: builder, literals, and the way to the real engine."""
