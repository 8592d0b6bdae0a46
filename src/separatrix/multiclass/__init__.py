"""Many categories from two: which binary problems to solve, and how their answers add up."""
