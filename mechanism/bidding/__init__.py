"""Plugin folder: one file, one bidding agent; the file name is its name in YAML."""
