"""Underspecification (McMilin 2022): pronouns against dates and places, and detecting underspecified inputs."""
