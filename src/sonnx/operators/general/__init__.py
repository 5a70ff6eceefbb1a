"""Rules that hold for every operator of the profile."""
