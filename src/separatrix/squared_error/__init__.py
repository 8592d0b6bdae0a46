"""Procedures that minimise |Y a - b|^2, over a alone or over a and b (DHS sections 5.8 and 5.9)."""
