"""Tables and arrays from files."""
