"""Records on disk become one self-contained HTML page each."""
