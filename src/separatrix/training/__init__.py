"""A resumable run of a compiled loop."""
