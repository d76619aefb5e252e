"""Underspecification (McMilin 2023): pronouns against dates and places, and detecting underspecified inputs."""
