"""Online rules: the update loops, their state, and the trainer that runs them in pieces."""
