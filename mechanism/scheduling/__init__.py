"""Plugin folder: one file, one scheduling rule; the file name is its name in YAML."""
