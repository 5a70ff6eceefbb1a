"""Rules applied to calls: findings, all of them at once."""
