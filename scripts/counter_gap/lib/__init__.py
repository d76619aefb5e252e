"""Pure functions of Counter-GAP; the scripts of its rules are one folder above."""
