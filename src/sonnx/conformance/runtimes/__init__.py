"""Runtimes: what they are asked, how each one is called, and the child processes in which that happens."""
