"""How many cases the conformance kit judges, and what it holds on to."""
