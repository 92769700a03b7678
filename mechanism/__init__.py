"""The market: prefix trees, schedules, payments. Arrays in, arrays out; no clock, no file, no global randomness."""
