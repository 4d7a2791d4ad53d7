"""The desk: takes a user's raw private input to the private side, passes the gate, and returns releases only."""
