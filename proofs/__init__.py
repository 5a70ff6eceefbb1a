"""What the project keeps of its own proofs: `python -m proofs FOLDER` proves, and compares with the lock."""
