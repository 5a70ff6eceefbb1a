"""Sums of products over windows: kernels by hand, and which of them a node needs."""
