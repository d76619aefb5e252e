"""What plans of studies are made from, without Snakemake: default configuration, registry and pronoun sets."""

from scripts.core import config
from scripts.core.data import templates
from scripts.core.models import registry
from scripts.core.models.entries import Model
from tests.conftest import ROOT

CONFIG = config.load_yaml(ROOT / "config.yaml")
MODELS, SYSTEMS = registry.read_registry(ROOT / "config/models.yaml", ROOT / "config/schemas/models.schema.yaml")
PRONOUNS = templates.read_pronouns(ROOT / "templates/pronouns.tsv")
DECODER, ENCODER = "smollm2-135m-instruct", "minilm-l6-mlm"


def settings(study: str, changes: dict | None = None) -> dict:
    """Return what the default configuration says of a study, with changes as an overlay makes them."""
    return config.merge(CONFIG, {study: changes or {}})[study]


def select(*names: str) -> dict[str, Model]:
    """Return entries of the registry."""
    return {name: MODELS[name] for name in names}
