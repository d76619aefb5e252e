"""Greetings: does a model continue with the pronoun set that a person was introduced with?"""
