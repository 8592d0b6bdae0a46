"""The compiled parts of the solvers."""
