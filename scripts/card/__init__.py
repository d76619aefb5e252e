"""Rules' scripts that make the card of a model."""
