"""Does lying pay? Searches for profitable manipulations of one auction, against any pair of rules."""
