"""Coreference systems of the project's own: annotated corpora, scorers of coreference, augmentation."""
