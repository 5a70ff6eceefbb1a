"""Makes the documentation site out of the operator folders: `python -m docs` writes it into `site/`."""
