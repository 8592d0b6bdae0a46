"""The tables, figures and exercises of the sources, computed anew: each file states the claim that it reproduces."""
