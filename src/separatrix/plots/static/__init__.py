"""Displays with matplotlib, on scikit-learn's conventions."""
