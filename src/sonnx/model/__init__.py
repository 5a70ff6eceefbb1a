"""Small frozen values that every other part speaks of: types, calls, rules, findings, operators."""
