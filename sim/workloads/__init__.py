"""Plugin folder: one file, one workload; the file name is its `kind` in YAML."""
