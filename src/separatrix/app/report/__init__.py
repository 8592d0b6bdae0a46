"""What people read: summaries of fits as text, Markdown, HTML and JSON."""
