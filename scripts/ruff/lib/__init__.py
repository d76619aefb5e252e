"""Pure functions of RUFF; the scripts of its rules are one folder above."""
