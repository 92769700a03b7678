"""Plugin folder: one file, one pricing rule; the file name is its name in YAML."""
