"""What one pass over rows may return: small summaries that merge."""
