"""Makes a model conform where that does not change its meaning, and says what it changed."""
