"""What commands do, once their options are read."""
