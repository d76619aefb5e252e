"""Pure modules of MISGENDERED: what its scripts do."""
