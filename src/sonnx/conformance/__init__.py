"""The conformance kit: judges any runtime by the specification."""
