"""Scripts of MISGENDERED's rules (Hossain, Dev and Singh 2023)."""
