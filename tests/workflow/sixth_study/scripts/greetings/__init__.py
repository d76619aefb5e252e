"""Greetings: which pronoun set a model prefers in a sentence."""
