"""The domains: exact reals, IEEE floats, integers, moved types; rounding, bits, literals."""
