"""Rows seen through a space: plain, Kesler's, and those of a kernel."""
