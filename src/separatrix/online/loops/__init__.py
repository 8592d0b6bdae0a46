"""Compiled loops. Nothing here knows scikit-learn."""
