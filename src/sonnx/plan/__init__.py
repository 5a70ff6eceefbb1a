"""A graph made ready for kernels: what is called in which order, and where every tensor lies."""
