"""What follows from a definition: one file a walk over its terms, one method a word."""
