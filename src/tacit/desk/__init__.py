"""The desk takes a user's raw private input to the private side and returns releases only."""
