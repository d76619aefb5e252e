"""Pure functions of Underspecification; the scripts of its rules are one folder above."""
