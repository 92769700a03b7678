"""Who serves the requests the market dispatches."""
