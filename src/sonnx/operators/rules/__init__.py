"""What rules of several operators are made of."""
