"""C for a target: a graph becomes a project that is read, compiled and tested without this package."""
