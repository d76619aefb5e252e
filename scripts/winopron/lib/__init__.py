"""Pure functions of WinoPron; the scripts of its rules are one folder above."""
