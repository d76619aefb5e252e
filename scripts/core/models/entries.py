"""What the registry says of a model or of a coreference system, as values; every default stands here.

What scores, answers, distributions or clusters depend on has a class of its own, which a model or system inherits from:
a job gets these fields, as a dictionary, and nothing else, so that a new label or licence makes nothing again.
"""

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar


@dataclass(frozen=True)
class Hub:
    """A repository on the Hub; ``revision`` None: its newest commit, ``file``: one file of it."""

    hub: str
    revision: str | None = None
    file: str | None = None


@dataclass(frozen=True)
class Folder:
    """A folder of this machine."""

    path: str


@dataclass(frozen=True)
class Package:
    """A file or folder in an installed Python package; ``delta``: this project's file that is laid over the folder."""

    package: str
    version: str
    file: str | None = None
    folder: str | None = None
    delta: str | None = None

    @property
    def place(self) -> dict[str, str | None]:
        """The folder in the package, for a job that reads it."""
        return {"package": self.package, "version": self.version, "folder": self.folder}


@dataclass(frozen=True)
class Trained:
    """A coreference system that this workflow trains."""

    trained: str


Source = Hub | Folder | Package
PLACES = ("source", "tokenizer", "adapter", "encoder")
"""Fields that say where something is read from."""


def read_source(stated: Mapping[str, Any]) -> Any:
    """Return a source from its keys in YAML, of which the first field of each kind is that kind's own."""
    kind = next(kind for kind in (Hub, Folder, Package, Trained) if fields(kind)[0].name in stated)
    return kind(**stated)


class Placed:
    """What is read from places."""

    @property
    def places(self) -> dict[str, Any]:
        """Those of :data:`PLACES` that are stated."""
        return {part: place for part in PLACES if (place := getattr(self, part, None)) is not None}


@dataclass(frozen=True, kw_only=True)
class ScoredModel(Placed):
    """What scores depend on.

    Attributes:
        source: None for a model behind a server, one that was scored elsewhere, and one that nobody can run.
        tokenizer: Only if the checkpoint has none.
        adapter: Merged into the weights.
        architecture, precision, gpus: Empty or None where they are read from the checkpoint.
        remote_code: Whether the checkpoint's own code runs. None, not stated: it does not, and a checkpoint that brings
            some is refused when it is described.
    """

    source: Source | None = None
    tokenizer: Hub | None = None
    adapter: Hub | Folder | None = None
    architecture: str = ""
    precision: str = ""
    gpus: int | None = None
    gated: bool = False
    remote_code: bool | None = None
    bos_token: str | None = None
    demonstration: bool = False


@dataclass(frozen=True, kw_only=True)
class PromptedModel(ScoredModel):
    """What answers depend on: ``thinking`` as in the registry."""

    prompt_wrapping: str | None = None
    thinking: Mapping[str, Any] | None = None

    @property
    def wrapping(self) -> str:
        """What is put around a prompt."""
        return self.prompt_wrapping or "none"

    @property
    def thought_tokens(self) -> int:
        """How many tokens the model may think before each answer."""
        return (self.thinking or {}).get("tokens", 0)


@dataclass(frozen=True, kw_only=True)
class ProbedModel(PromptedModel):
    """What token distributions depend on: ``prefixes`` stand before a text, by method."""

    prefixes: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class ResolvedSystem(Placed):
    """What clusters depend on."""

    source: Source | Trained
    encoder: Hub | Folder | None = None
    architecture: str
    precision: str
    gated: bool = False
    environment: str
    demonstration: bool = False


@dataclass(frozen=True, kw_only=True)
class Entry(Placed):
    """What is said of both; ``parameters`` None: not published, or read from the checkpoint, as empty texts are."""

    name: str
    label: str
    licence: str
    family: str = ""
    size: str = ""
    parameters: int | None = None
    embedding_parameters: int = 0
    note: str = ""
    studies: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_fetched(self) -> bool:
        """Whether any of it comes from the Hub."""
        return any(isinstance(place, Hub) for place in self.places.values())

    @property
    def has_delta(self) -> bool:
        """Whether its weights are a package's with a delta."""
        return isinstance(source := self.places.get("source"), Package) and source.delta is not None

    @property
    def facts(self) -> dict[str, Any]:
        """What figures and tables say of it."""
        names = ("label", "family", "size", "architecture", "parameters", "demonstration")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class Model(Entry, ProbedModel):
    """A model. The keys are explained at the head of ``config/models.yaml``.

    Attributes:
        context: None: no limit that a study must know.
    """

    layer_repeats: int = 1
    cached_values: int | None = None
    recurrent: bool = False
    labels: str | None = None
    context: int | None = None
    base: str | None = None
    api: Mapping[str, Any] | None = None
    outputs: Mapping[str, str] | None = None
    available: bool = True
    released_in: str | None = None

    @property
    def lacking(self) -> list[str]:
        """What plans need and the entry leaves to its checkpoint."""
        planned = ("family", "size", "architecture", "parameters", "precision", "gpus")
        return [key for key in planned if getattr(self, key) in ("", None)]

    @property
    def is_promptable(self) -> bool:
        """Whether it can be asked, here or at its server."""
        return self.prompt_wrapping is not None or self.api is not None

    def methods(self, study: str) -> list[str]:
        """Return for which texts it gives token distributions: those with a ``mask``, those to ``generate`` from.

        What ``study`` did with the model, otherwise what its architecture can do.
        """
        by_use = {"masked": ["mask"], "generation": ["generate"], "masked-and-generation": ["mask", "generate"]}
        by_architecture = {"encoder": ["mask"], "decoder": ["generate"], "encoder-decoder": ["mask", "generate"]}
        return by_use.get(self.studies.get(study, "")) or by_architecture[self.architecture]


@dataclass(frozen=True, kw_only=True)
class System(Entry, ResolvedSystem):
    """A coreference system."""

    gpus: int
    debiasing: str = "none"

    @property
    def facts(self) -> dict[str, Any]:
        """What figures and tables say of it, and how it was debiased."""
        return super().facts | {"debiasing": self.debiasing}


Value = TypeVar("Value", Model, System)


def read_entry(kind: type[Value], name: str, entry: Mapping[str, Any]) -> Value:
    """Return a model or system from its entry in YAML, which its schema has checked."""
    return kind(name=name, **_read_values(entry, entry.keys()))


def job_entry(entry: Model | System, part: type) -> dict[str, Any]:
    """Return what a job gets of an entry, as YAML has it, without what is not stated.

    Args:
        part: :class:`ScoredModel`, :class:`PromptedModel`, :class:`ProbedModel` or :class:`ResolvedSystem`.
    """
    named = {one.name: getattr(entry, one.name) for one in fields(part)}
    return {
        key: state_source(value) if key in entry.places else value for key, value in named.items() if value is not None
    }


def read_job_entry(entry: Mapping[str, Any]) -> ProbedModel:
    """Return what a job may depend on in a model's entry (:func:`job_entry`), as a value again."""
    return ProbedModel(**_read_values(entry, {one.name for one in fields(ProbedModel)}))


def read_job_system(entry: Mapping[str, Any]) -> ResolvedSystem:
    """Return what a job got of a system's entry as a value again."""
    return ResolvedSystem(**_read_values(entry, {one.name for one in fields(ResolvedSystem)}))


def _read_values(entry: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    return {key: read_source(value) if key in PLACES else value for key, value in entry.items() if key in known}


def state_source(source: Source | Trained) -> dict[str, Any]:
    """Return a source as YAML has it, with the revision that is not fixed."""
    named = {one.name: getattr(source, one.name) for one in fields(source)}
    return {key: value for key, value in named.items() if value is not None or key == "revision"}


def find_folders(entry: Value, resolve: Callable[[str], str]) -> Value:
    """Return an entry with its folders where ``resolve`` finds them."""
    found = {part: Folder(resolve(place.path)) for part, place in entry.places.items() if isinstance(place, Folder)}
    return dataclasses.replace(entry, **found)
