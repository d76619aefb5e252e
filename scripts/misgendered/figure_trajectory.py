"""Draw accuracy over the course of training, for models whose registry entry has several revisions."""

from scripts.core.job import run
from scripts.core.paper.trajectory import main

if __name__ == "__main__":
    run(main)
