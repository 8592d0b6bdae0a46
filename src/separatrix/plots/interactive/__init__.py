"""Figures with Bokeh, for notebooks, the report and the studio."""
