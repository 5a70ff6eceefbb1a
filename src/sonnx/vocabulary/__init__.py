"""Small frozen values that describe operators: signatures, rules, calls, findings, kernels asked for."""
