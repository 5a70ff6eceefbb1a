"""Operators that the profile does not have, one in a module, and what normalizing writes in their place."""
