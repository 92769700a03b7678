"""One picture a module: series in, charts out."""
