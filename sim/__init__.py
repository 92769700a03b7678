"""Time and memory: scenarios, workloads, the SGLang engine model, the market's clock, records and metrics."""
