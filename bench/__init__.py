"""Benchmarks: ratios measured interleaved in one run, never assertions on seconds."""
