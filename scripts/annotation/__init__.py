"""Scripts of rules/annotation.smk: sheets for people to fill in, and what they come to."""
