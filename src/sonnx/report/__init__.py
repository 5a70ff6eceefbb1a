"""Words and tables for people: the only place where findings become text."""
