"""The paper's experiments (§5, Figures 1–4, and what the auction itself costs), run again and judged claim by claim."""
