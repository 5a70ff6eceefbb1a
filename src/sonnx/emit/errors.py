"""What cannot be emitted."""


class EmitError(ValueError):
    """A model that conforms has something that C has no place for; the text names it."""
