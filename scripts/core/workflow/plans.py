"""What the plans of all studies share: what a run does for a study, made from its configuration before any job."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StudyPlan:
    """A run of a study; ``plan[key]`` is a key of ``settings``, its block of the configuration."""

    settings: dict

    def __getitem__(self, key: str) -> Any:
        return self.settings[key]

    @property
    def templates(self) -> list[str]:
        """The template sets of the run."""
        return self["templates"]

    @property
    def bootstrap(self) -> dict[str, int]:
        """Draws and seed of intervals."""
        return {key: self["bootstrap"][key] for key in ("draws", "seed")}
