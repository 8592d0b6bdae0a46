"""Where data live."""
