"""A page on this machine on which points are drawn and separators learn, step by step; `page` puts it together."""
