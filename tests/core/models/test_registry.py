"""The registry holds what the papers used, and its helpers say what is wrong with an entry."""

import copy
import functools
import json
import math
import re
import shutil
from pathlib import Path

import pytest

from scripts.core.config import load_yaml
from scripts.core.errors import UserError
from scripts.core.models import costs
from scripts.core.models import registry as module
from scripts.core.models.registry import check_labels

REGISTRY = Path("config/models.yaml")
SCHEMA = Path("config/schemas/models.schema.yaml")

# RUFF (Gautam et al. 2024), Table 2: family and size as printed, millions of parameters.
TABLE_2_LIKELIHOOD = {
    "ALBERT-v2": {"base": 11, "large": 17, "xlarge": 58, "xxlarge": 223},
    "BERT": {"base": 110, "large": 340},
    "RoBERTa": {"base": 125, "large": 355},
    "MosaicBERT": {"137M": 137},
    "OPT": {
        "125M": 125,
        "350M": 350,
        "1.3B": 1300,
        "2.7B": 2700,
        "6.7B": 6700,
        "13B": 13_000,
        "30B": 30_000,
        "66B": 66_000,
    },
    "Pythia": {
        "14M": 14,
        "70M": 70,
        "160M": 160,
        "410M": 410,
        "1B": 1000,
        "1.4B": 1400,
        "2.8B": 2800,
        "6.9B": 6900,
        "12B": 12_000,
    },
    "Llama-2": {"7B": 7000, "13B": 13_000, "70B": 70_000},
}
TABLE_2_PROMPTING = {
    "FLAN-T5": {"small": 77, "base": 248, "large": 783, "xl": 2850, "xxl": 11_300},
    "Llama-2-chat": {"7B": 7000, "13B": 13_000, "70B": 70_000},
}
# MISGENDERED (Hossain et al. 2023), Table 3: millions of parameters; without GPT-J, where 6.7B is printed for 6.05B.
MISGENDERED_TABLE_3 = {
    "gpt2": 124,
    "gpt2-medium": 355,
    "gpt2-large": 774,
    "gpt2-xl": 1500,
    "bloom-560m": 560,
    "bloom-1b1": 1100,
    "bloom-3b": 3000,
    "bloom-7b1": 7100,
    "opt-350m": 350,
    "opt-1.3b": 1300,
    "opt-2.7b": 2700,
    "opt-6.7b": 6700,
    "llama-7b": 6700,
    "bart-base": 140,
    "bart-large": 400,
    "t5-small": 60,
    "t5-base": 220,
    "t5-3b": 3000,
}
GPU_BYTES = 40 * 10**9


@pytest.fixture(scope="module")
def models():
    return module.read_registry(REGISTRY, SCHEMA)["models"]


def minutes(entry, instances, attempt=1):
    return costs.job_minutes(entry, instances * costs.instance_seconds(entry, 4, 56), attempt)


def runnable(models):
    return {name: entry for name, entry in models.items() if "source" in entry}


@functools.cache
def original():
    return load_yaml(REGISTRY)


def load_changed(tmp_path, change):
    """Write the registry with ``change`` applied to its entries, and load it (JSON is YAML too)."""
    content = copy.deepcopy(original())
    change(content["models"])
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    return module.read_registry(path, SCHEMA)["models"]


def test_order_starts_with_the_models_of_the_default_run(models):
    assert list(models)[:2] == load_yaml("config.yaml")["models"] == ["smollm2-135m-instruct", "minilm-l6-mlm"]


def test_the_encoder_whose_head_was_trained_here_is_the_only_demonstration_model_and_its_label_says_so(models):
    assert [name for name, entry in models.items() if entry["demonstration"]] == ["minilm-l6-mlm"]
    for entry in models.values():
        assert entry["label"].endswith("(demonstration)") == entry["demonstration"]


@pytest.mark.parametrize(("use", "table"), [("likelihood", TABLE_2_LIKELIHOOD), ("prompting", TABLE_2_PROMPTING)])
def test_ruff_table_2_in_its_order_and_size(models, use, table):
    entries = [entry for entry in models.values() if entry["studies"].get("ruff") == use]
    printed = [(family, size) for family, sizes in table.items() for size in sizes]
    assert [(entry["family"], entry["size"]) for entry in entries] == printed
    for entry in entries:
        millions = table[entry["family"]][entry["size"]]
        assert entry["parameters"] / 1e6 == pytest.approx(millions, rel=0.12), entry["label"]


def test_ruff_has_29_scored_and_8_prompted_variants(models):
    uses = [entry["studies"].get("ruff") for entry in models.values()]
    assert (uses.count("likelihood"), uses.count("prompting")) == (29, 8)


def test_ruff_architectures(models):
    scored = [entry for entry in models.values() if entry["studies"].get("ruff") == "likelihood"]
    assert sum(entry["architecture"] == "encoder" for entry in scored) == 9
    assert sum(entry["architecture"] == "decoder" for entry in scored) == 20


def test_misgendered_table_3(models):
    used = {name for name, entry in models.items() if "misgendered" in entry["studies"]}
    assert used == {*MISGENDERED_TABLE_3, "gpt-j-6b"}
    for name, millions in MISGENDERED_TABLE_3.items():
        assert models[name]["parameters"] / 1e6 == pytest.approx(millions, rel=0.12), name


def test_other_studies(models):
    assert {e["label"] for e in models.values() if "winopron" in e["studies"]} == {
        f"FLAN-T5-{size}" for size in ("small", "base", "large", "xl", "xxl")
    }
    assert {e["label"] for e in models.values() if "underspecification" in e["studies"]} == {
        *("BERT-base", "BERT-large", "RoBERTa-base", "RoBERTa-large", "BART-base", "BART-large"),
        *("UL2-20B", "Flan-UL2-20B", "GPT-3", "GPT-3.5 SFT", "GPT-3.5 RLHF"),
    }


def test_commits_pinned_by_the_authors_of_underspecification(models):
    pinned = {
        "bert-base": "a265f773a47193eed794233aa2a0f0bb6d3eaa63",
        "bert-large": "80792f8e8216b29f3c846b653a0ff0a37c210431",
        "roberta-base": "bc2764f8af2e92b6eb5679868df33e224075ca68",
        "roberta-large": "716877d372b884cad6d419d828bac6c85b3b18d9",
        "bart-base": "aadd2ab0ae0c8268c7c9693540e9904811f36177",
        "bart-large": "cb48c1365bd826bd521f650dc2e0940aee54720c",
        "ul2-20b": "c3c064bbf111926650cb6aca765c9ff7e9f2c6e2",
    }
    assert {name: models[name]["source"]["revision"] for name in pinned} == pinned


def test_no_commit_serves_two_models(models):
    revisions = [e["source"]["revision"] for e in runnable(models).values() if e["source"].get("revision")]
    assert len(set(revisions)) == len(revisions)


def test_overlays_select_the_29_scored_variants_and_the_8_prompted(models):
    full, scored, asked = (load_yaml(f"config/{name}.yaml") for name in ("all", "ruff", "ruff_prompted"))
    assert scored["models"] == full["models"]
    assert scored["ruff"]["sample_size"] == full["ruff"]["sample_size"]
    assert asked["ruff"]["prompting"] == full["ruff"]["prompting"]
    assert full["models"] == [name for name, entry in models.items() if entry["studies"].get("ruff") == "likelihood"]
    assert full["ruff"]["templates"] == ["official"]
    assert full["ruff"]["sample_size"] == full["ruff"]["prompting"]["sample_size"] == 2160
    prompted = [name for name, entry in models.items() if entry["studies"].get("ruff") == "prompting"]
    assert full["ruff"]["prompting"]["models"] == prompted
    assert len(prompted) == 8
    assert list(module.select(models, full["models"])) == full["models"]


@pytest.mark.parametrize(
    ("entry", "key", "value", "message"),
    [
        ("opt-125m", "presicion", "float32", "unknown key 'models.opt-125m.presicion'; did you mean 'precision'?"),
        (
            "opt-125m",
            "precision",
            "fp16",
            "models.opt-125m.precision is 'fp16'; expected one of float32, float16, bfloat16; did you mean 'float16'?",
        ),
        (
            "bert-base",
            "architecture",
            "encoders",
            "models.bert-base.architecture is 'encoders'; expected one of encoder, decoder, encoder-decoder; "
            "did you mean 'encoder'?",
        ),
        (
            "bert-base",
            "studies",
            {"ruf": "likelihood"},
            "unknown key 'models.bert-base.studies.ruf'; did you mean 'ruff'?",
        ),
        (
            "bert-base",
            "studies",
            {"ruff": "likelyhood"},
            "models.bert-base.studies.ruff is 'likelyhood'; expected one of likelihood, prompting; "
            "did you mean 'likelihood'?",
        ),
        (
            "bert-base",
            "parameters",
            10**400,
            f"models.bert-base.parameters is '1{'0' * 119}…'; expected a number of parameters from 1 to 10^14",
        ),
        ("bert-base", "gpus", -1, "models.bert-base.gpus is '-1'; expected a number of GPUs from 0 to 64"),
        ("bert-base", "gated", "no", "models.bert-base.gated is 'no' (text); expected true or false"),
        ("bert-base", "parameters", None, "models.bert-base.parameters is null (nothing); expected a whole number"),
        (
            "bert-base",
            "source",
            {"hub": "google-bert/bert-base-uncased", "revision": "main"},
            "models.bert-base.source.revision is 'main'; expected a commit of 40 hexadecimal digits, or null for an "
            "unpinned model",
        ),
        (
            "bert-base",
            "source",
            {"hub": "google-bert/bert-base-uncased"},
            "models.bert-base.source lacks the key 'revision'; add it",
        ),
        (
            "bert-base",
            "source",
            {"hub": "google-bert/bert-base-uncased", "revison": None},
            "unknown key 'models.bert-base.source.revison'; did you mean 'revision'?",
        ),
        ("bert-base", "source", {"path": ""}, "models.bert-base.source.path is ''; expected text that is not empty"),
        (
            "bert-base",
            "source",
            {"package": "p", "version": "1", "file": "a.bin"},
            "models.bert-base.source.file is 'a.bin'; expected a .gguf file inside the package",
        ),
        (
            "bert-base",
            "source",
            {"package": "p", "version": "1", "folder": "a"},
            "models.bert-base.source lacks the key 'delta'; add it",
        ),
        (
            "bert-base",
            "source",
            {"package": "p", "version": 0.1, "folder": "a", "delta": "b.safetensors"},
            "models.bert-base.source.version is '0.1' (a number); expected text",
        ),
        (
            "bert-base",
            "label",
            "  ",
            "models.bert-base.label is '  '; expected text of at most 40 letters "
            "(Latin, with any accents), digits and marks, not empty and without a colon and a space",
        ),
        (
            "bert-base",
            "label",
            "BERT: base",
            "models.bert-base.label is 'BERT: base'; expected text of at most 40 letters "
            "(Latin, with any accents), digits and marks, not empty and without a colon and a space",
        ),
        *(
            (
                "bert-base",
                "label",
                f"BERT{character}x",
                f"models.bert-base.label is 'BERT{shown}x'; expected text of at most 40 "
                "letters (Latin, with any accents), digits and marks, not empty and without a colon and a space",
            )
            for character, shown in {
                "\x1b[31m": r"\x1b[31m",
                "\u202e": r"\u202e",
                "\n": r"\n",
                "\u200b": r"\u200b",
                "\x7f": r"\x7f",
                "模": "模",
                "я": "я",
                "-" * 40: "-" * 40,
            }.items()
        ),
        ("gpt-3", "precision", "float16", "models.gpt-3.precision does not belong here; remove it"),
        ("bert-base", "available", False, "models.bert-base lacks the key 'note'; add it"),
    ],
)
def test_schema_messages(tmp_path, entry, key, value, message):
    with pytest.raises(UserError) as caught:
        load_changed(tmp_path, lambda models: models[entry].__setitem__(key, value))
    assert re.sub(r", line [0-9]+", "", str(caught.value)) == f"{tmp_path / 'models.yaml'}: {message}"


def test_a_study_says_in_its_own_schema_what_it_does_with_models(tmp_path):
    """The registry and its schema know no study: a further one needs no change of either."""
    schemas = shutil.copytree(SCHEMA.parent, tmp_path / "schemas")
    studies = {path.name.removesuffix(".schema.yaml") for path in schemas.glob("studies/*.schema.yaml")}
    assert studies >= {"ruff", "counter_gap", "underspecification"}
    assert not [study for study in studies if study in (schemas / SCHEMA.name).read_text()]
    (schemas / "studies/greetings.schema.yaml").write_text("$defs: {model_uses: {enum: [asked, greeted]}}\n")

    def load(use):
        content = copy.deepcopy(original())
        content["models"]["bert-base"]["studies"] = {"greetings": use}
        (tmp_path / "models.yaml").write_text(json.dumps(content), encoding="utf-8")
        return module.read_registry(tmp_path / "models.yaml", schemas / SCHEMA.name)["models"]

    assert load("greeted")["bert-base"]["studies"] == {"greetings": "greeted"}
    with pytest.raises(UserError, match=r"studies.greetings is 'greted'; expected one of asked, greeted; did you mean"):
        load("greted")
    # A study that does nothing with models of the registry cannot be named there.
    (schemas / "studies/greetings.schema.yaml").write_text("type: object\n")
    with pytest.raises(UserError, match=r"unknown key 'models.bert-base.studies.greetings'"):
        load("greeted")


def test_outputs_can_be_released_in_known_studies_alone(tmp_path):
    with pytest.raises(UserError, match=r"models.gpt-3.released_in is 'underspecified'; expected one of .*'underspec"):
        load_changed(tmp_path, lambda models: models["gpt-3"].__setitem__("released_in", "underspecified"))


@pytest.mark.parametrize("planned", [{"winopron": "coreference"}, {"winopron": []}, ["winopron"]])
def test_planned_studies_name_their_uses(tmp_path, planned):
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps({**original(), "planned_studies": planned}), encoding="utf-8")
    with pytest.raises(UserError, match="planned_studies"):
        module.read_registry(path, SCHEMA)["models"]


def test_schema_refuses_names_unfit_for_files(tmp_path):
    with pytest.raises(UserError, match="the name 'BERT base' is not allowed; use lower-case letters"):
        load_changed(tmp_path, lambda models: models.__setitem__("BERT base", models.pop("bert-base")))


def test_schema_refuses_unknown_top_level_keys(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text("modles: {}\n", encoding="utf-8")
    with pytest.raises(UserError, match="unknown key 'modles'; did you mean 'models'"):
        module.read_registry(path, SCHEMA)["models"]


def same_source(models):
    models["opt-350m"]["source"] = dict(models["opt-125m"]["source"])


def same_label(models):
    models["opt-350m"]["label"] = "OPT-125M"


def gated_path(models):
    models["bert-base"] |= {"gated": True, "source": {"path": "/models/bert"}}


def code_in_a_package(models):
    models["minilm-l6-mlm"]["remote_code"] = True


def prompted_without_wrapping(models):
    del models["flan-t5-xl"]["prompt_wrapping"]


def prompted_encoder(models):
    models["bert-base"]["prompt_wrapping"] = "none"


def base_that_is_not_there(models):
    models["llama-2-7b-chat"]["base"] = "llama-2-7"


def revisions_of_a_package(models):
    models["minilm-l6-mlm"]["revisions"] = ["step1", "step2"]


def revisions_beside_one(models):
    models["pythia-14m"]["source"]["revision"] = "0" * 40
    models["pythia-14m"]["revisions"] = ["step1", "step2"]


def revisions_with_the_name_of_a_model(models):
    models["pythia-14m"]["source"]["revision"] = None
    models["pythia-14m"]["revisions"] = ["step1", "step2"]
    models["pythia-14m-step2"] = copy.deepcopy(models["gpt2"]) | {"source": {"path": "elsewhere"}}


def thinking_without_a_template(models):
    models["llama-2-7b-chat"]["thinking"] = {"enable_thinking": False}


def outputs_of_an_encoder_decoder(models):
    import_scores_of(models["flan-t5-base"])


def import_scores_of(entry):
    """Give an entry scores from elsewhere in place of its weights."""
    for key in ("source", "tokenizer", "precision", "gpus"):
        entry.pop(key, None)
    entry["outputs"] = {"ruff/replica": "scores.csv"}


def demonstration_in_a_study(models):
    models["minilm-l6-mlm"]["studies"] = {"ruff": "likelihood"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (same_source, "models.opt-350m has the same source as models.opt-125m; keep one"),
        (
            same_label,
            "models.opt-350m.label is 'OPT-125M', the label of models.opt-125m in ruff too; give each its own",
        ),
        (gated_path, "models.bert-base.gated is true but its source is not the hub; set gated to false"),
        (code_in_a_package, "models.minilm-l6-mlm.remote_code is true but its source is a package"),
        (prompted_without_wrapping, "models.flan-t5-xl is prompted but has no prompt_wrapping; set it to none, llama2"),
        (prompted_encoder, "models.bert-base is an encoder and cannot be prompted; remove prompt_wrapping"),
        (base_that_is_not_there, "models.llama-2-7b-chat.base 'llama-2-7' is not an entry; did you mean 'llama-2-7b'?"),
        (revisions_of_a_package, "models.minilm-l6-mlm.source.package does not belong here; remove it"),
        (
            revisions_beside_one,
            f"source.revision is '{'0' * 40}'; expected null where there are revisions",
        ),
        (revisions_with_the_name_of_a_model, "models.pythia-14m.revisions make 'pythia-14m-step2', which is another"),
        (thinking_without_a_template, "models.llama-2-7b-chat.thinking is for decoders whose prompt_wrapping is chat"),
        (outputs_of_an_encoder_decoder, "models.flan-t5-base.outputs is for encoders and decoders with a number of"),
        (demonstration_in_a_study, "models.minilm-l6-mlm is a demonstration model and belongs to no study"),
    ],
)
def test_conflicts(tmp_path, change, message):
    with pytest.raises(UserError) as caught:
        load_changed(tmp_path, change)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_same_weights_may_be_asked_with_and_without_a_thought(tmp_path):
    def change(models):
        for name, changed in (("on", {"thinking": {"tokens": 64}}), ("off", {"thinking": {"enable_thinking": False}})):
            entry = copy.deepcopy(models["smollm2-135m-instruct"])
            models[f"smollm2-135m-instruct-{name}"] = entry | changed | {"label": f"SmolLM2 {name}"}

    assert {"smollm2-135m-instruct-on", "smollm2-135m-instruct-off"} <= set(load_changed(tmp_path, change))


def test_one_added_entry_is_enough(tmp_path):
    def add(models):
        models["my-model"] = copy.deepcopy(models["opt-125m"]) | {"source": {"path": "/weights"}, "studies": {}}

    models = load_changed(tmp_path, add)
    assert list(module.select(models, ["my-model"])) == ["my-model"]


def test_select_keeps_registry_order(models):
    assert list(module.select(models, ["opt-66b", "bert-base", "opt-125m"])) == ["bert-base", "opt-125m", "opt-66b"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["opt-125"], "models: 'opt-125' is not in config/models.yaml; did you mean 'opt-125m'?"),
        (["###"], "models: '###' is not in config/models.yaml; add an entry"),
        (["bert-base", "bert-base"], "models: 'bert-base' is listed twice; remove one"),
        (["gpt-3"], "models: 'gpt-3' cannot be run (OpenAI retired davinci"),
        (["gpt-4o-mini"], "models: 'gpt-4o-mini' is behind a server; name it in completions.models instead"),
    ],
)
def test_select_refuses(models, names, message):
    with pytest.raises(UserError) as caught:
        module.select(models, names)
    assert str(caught.value).startswith(message)
    with pytest.raises(UserError) as caught:
        module.select(models, names, "misgendered.models")
    told = message.replace("name it in completions.models instead", "remove it")
    assert str(caught.value).startswith(f"misgendered.{told}")


@pytest.mark.parametrize("name", ["gpt-3", "gpt-3.5-sft", "gpt-3.5-rlhf"])
@pytest.mark.parametrize("select", [module.select, module.select_servers])
def test_retired_models_point_to_the_released_outputs(models, name, select):
    with pytest.raises(UserError) as caught:
        select(models, [name])
    assert "in January 2024" in str(caught.value)
    assert "its released outputs are read instead (underspecification in config.yaml, " in str(caught.value)
    assert str(caught.value).endswith("results/upstream/underspecification/); remove it")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpt-4o", "completions.models: 'gpt-4o' is not in config/models.yaml; did you mean 'gpt-4o-mini'?"),
        ("bert-base", "completions.models: 'bert-base' is not behind a server; name it in models instead"),
    ],
)
def test_select_servers_refuses(models, name, message):
    with pytest.raises(UserError) as caught:
        module.select_servers(models, [name])
    assert str(caught.value) == message


def test_select_servers(models):
    assert list(module.select(models, ["gpt-4o-mini"], "ruff.prompting.models", servers=True)) == ["gpt-4o-mini"]
    assert costs.prompt_seconds(models["gpt-4o-mini"], 200, 20) == 0
    assert list(module.select_servers(models, ["own-server", "gpt-4o-mini"])) == ["gpt-4o-mini", "own-server"]
    assert module.select_servers(models, []) == {}


def test_methods(models):
    found = {name: module.methods(entry, "underspecification") for name, entry in models.items()}
    assert [found[n] for n in ("bert-base", "bart-large", "minilm-l6-mlm")] == [["mask"]] * 3
    assert found["ul2-20b"] == found["t5-small"] == ["mask", "generate"]
    assert [found[n] for n in ("flan-ul2-20b", "smollm2-135m-instruct", "own-server", "gpt-3")] == [["generate"]] * 4
    # Another study takes what the architecture can do.
    assert module.methods(models["ul2-20b"], "sixth") == ["mask", "generate"]
    assert module.methods(models["bart-large"], "sixth") == ["mask", "generate"]
    assert models["ul2-20b"]["prefixes"] == {"mask": "[NLU]", "generate": "[S2S]"}


def test_distribution_minutes(models):
    entry = models["flan-ul2-20b"]
    # 39.2 GB at 200 MB/s; 1,000 texts of 84 tokens at 2 x 19.6e9 operations and 1e14 a second, and 0.1 s each.
    seconds = 2 * 19591209984 / 2e8 + 1000 * (2 * 19591209984 * 84 / 1e14 + 0.1)
    asked = 1000 * costs.reading_seconds(entry, 84)
    assert costs.job_minutes(entry, asked) == math.ceil(10 + seconds / 60)
    assert costs.job_minutes(entry, asked, attempt=2) == 2 * math.ceil(10 + seconds / 60)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"key": "sk-abc"}, "api.key is 'sk-abc'; expected the name of an environment variable in capitals, or null"),
        ({"base_url": "api.openai.com"}, "api.base_url is 'api.openai.com'; expected an address that starts with"),
        ({"base_url": "https://me:word@host/v1"}, "expected an address that starts with https:// or http:// and holds"),
        ({"interface": "chats"}, "expected one of completions, chat; did you mean 'chat'?"),
        ({"top_logprobs": 0}, "api.top_logprobs is '0'; expected a number of tokens from 1 to 100"),
        ({"modle": "x"}, "unknown key 'models.gpt-4o-mini.api.modle'; did you mean 'model'?"),
    ],
)
def test_schema_messages_of_servers(tmp_path, change, message):
    with pytest.raises(UserError) as caught:
        load_changed(tmp_path, lambda models: models["gpt-4o-mini"]["api"].update(change))
    assert message in str(caught.value)


def test_a_server_has_no_weights(tmp_path):
    with pytest.raises(UserError, match=r"models.gpt-4o-mini.source does not belong here; remove it"):
        load_changed(tmp_path, lambda models: models["gpt-4o-mini"].update(source={"path": "/x"}))


def test_scores_from_elsewhere_take_the_place_of_weights(tmp_path):
    changed = load_changed(tmp_path, lambda models: import_scores_of(models["opt-125m"]))
    assert list(module.select(changed, ["opt-125m"])) == ["opt-125m"]
    assert costs.shard_count(changed["opt-125m"], 10**9, 4, 50, 60) == 1
    with pytest.raises(UserError, match=r"misgendered\.models: 'opt-125m' has scores from elsewhere only; remove it"):
        module.select(changed, ["opt-125m"], "misgendered.models")
    with pytest.raises(UserError, match=r"models.opt-350m.source does not belong here; remove it"):
        load_changed(tmp_path, lambda models: models["opt-350m"].update(outputs=changed["opt-125m"]["outputs"]))
    prompted = changed["opt-125m"] | {"prompt_wrapping": "none"}
    with pytest.raises(UserError, match=r"models.opt-125m has scores from elsewhere and cannot be prompted; remove"):
        load_changed(tmp_path, lambda models: models.update({"opt-125m": prompted}))


def test_describe(models):
    assert module.describe(models["opt-6.7b"]) == {
        "label": "OPT-6.7B",
        "family": "OPT",
        "size": "6.7B",
        "architecture": "decoder",
        "parameters": 6658473984,
        "demonstration": False,
    }


def test_weights_bytes(models):
    assert costs.weights_bytes(models["opt-66b"]) == 2 * 65719701504
    assert costs.weights_bytes(models["bert-base"]) == 4 * 109514298


@pytest.mark.parametrize("name", ["opt-30b", "opt-66b", "llama-2-70b", "llama-2-70b-chat"])
def test_gpus_as_in_ruff_appendix_e(models, name):
    assert models[name]["gpus"] == {"opt-30b": 2}.get(name, 4)


def test_other_ruff_models_take_one_gpu(models):
    several = {name for name, entry in models.items() if "ruff" in entry["studies"] and entry["gpus"] != 1}
    assert several == {"opt-30b", "opt-66b", "llama-2-70b", "llama-2-70b-chat"}


def test_weights_fit_40_gb_gpus_with_a_tenth_to_spare(models):
    for name, entry in runnable(models).items():
        if name not in load_yaml("config.yaml")["models"]:
            assert costs.weights_bytes(entry) <= 0.9 * GPU_BYTES * entry["gpus"], name


def test_precision_follows_size(models):
    for name, entry in runnable(models).items():
        assert (entry["precision"] == "float32") == (entry["parameters"] < 6e9), name


@pytest.mark.parametrize("architecture", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("gpus", [0, 1])
def test_resources_grow_with_parameters(models, architecture, gpus):
    sizes = [10**7, 10**8, 10**9, 10**10]
    entries = [models["opt-125m"] | {"architecture": architecture, "gpus": gpus, "parameters": size} for size in sizes]
    for resource in (costs.weights_bytes, costs.memory_mb, lambda e: minutes(e, 10_000)):
        values = [resource(entry) for entry in entries]
        assert values == sorted(set(values))


def test_memory_holds_the_weights_and_doubles(models):
    for entry in runnable(models).values():
        first = costs.memory_mb(entry)
        assert first * 2**20 > 1.5 * costs.weights_bytes(entry)
        assert [costs.memory_mb(entry, attempt) for attempt in (2, 3)] == [2 * first, 4 * first]


def test_runtime_grows_with_instances_attempts_and_repeats(models):
    entry = models["albert-base-v2"]
    few, many = minutes(entry, 1_000), minutes(entry, 100_000)
    assert costs.STARTUP_MINUTES < few < many
    assert minutes(entry, 1_000, attempt=3) == 3 * few
    assert many > minutes(entry | {"layer_repeats": 1}, 100_000)


def test_runtime_formula(models):
    entry = models["opt-66b"]
    seconds = 1000 * (2 * 65719701504 * 224 / 1e14 + 0.1) + 2 * 65719701504 / 2e8
    assert minutes(entry, 1000) == pytest.approx(10 + seconds / 60, abs=1)
    entry = models["minilm-l6-mlm"]
    operations = 2 * (22744506 - 30522 * 384) * 12544
    assert minutes(entry, 1000) == pytest.approx(10 + 1000 * operations / 8e10 / 60, abs=1)


def test_time_follows_the_options_of_an_instance(models):
    """Eleven pronoun sets (MISGENDERED) take eleven fourths of what four take, whatever the architecture."""
    for name in ("opt-66b", "minilm-l6-mlm"):
        entry = models[name] | {"gpus": 0}
        four, eleven = (costs.instance_seconds(entry, options, 20) for options in (4, 11))
        assert eleven == pytest.approx(four * 11 / 4)
    assert costs.shard_count(entry, 500_000, 11, 20, 60) > costs.shard_count(entry, 500_000, 4, 20, 60)


def test_time_of_prompts(models):
    entry = models["llama-2-70b-chat"]
    seconds = costs.prompt_seconds(entry, 200, 20)
    operations = 2 * entry["parameters"] * 200
    weights, cached = 2 * entry["parameters"], 2 * 163840
    rows = (0.92 * 160 * 2**30 - 1.1 * weights - 2**31) // (220 * (cached + 65536))
    assert 40 < rows == costs.prompts_per_batch(entry, 220, 160)
    layers = costs.decoder_shape(entry)[0]
    assert layers == pytest.approx(80, rel=0.15)
    arithmetic = (weights + rows * 220 * cached) / 1e12 + layers / 1000
    assert seconds == pytest.approx(operations / 1e14 + 2 * 20 * arithmetic / rows)
    assert costs.jobs_within(3 * 3600, 60) == 3
    assert costs.jobs_within(1, 60) == 1
    assert costs.job_minutes(entry, 6000, attempt=2) == 2 * costs.job_minutes(entry, 6000)
    small = models["smollm2-135m-instruct"]
    assert costs.prompt_seconds(small, 200, 20) == pytest.approx(2 * 134515008 * 240 / 8e10)


@pytest.mark.parametrize(
    ("name", "layers", "cached"), [("llama-2-7b", 32, 524288), ("llama-2-13b", 40, 819200), ("flan-t5-xxl", 24, 393216)]
)
def test_shapes_follow_from_numbers_of_parameters(models, name, layers, cached):
    """Llama 2 and FLAN-T5 as their configurations have them, in float16; what is estimated may be three tenths more."""
    found = costs.decoder_shape(models[name])
    assert layers <= found[0] <= 1.3 * layers
    assert cached <= found[1] <= 1.3 * cached


def test_the_bound_of_prompts_is_at_most_three_times_the_arithmetic(models):
    """Half of what prompts have is shared or, in an encoder-decoder, read by half of the parameters."""
    for entry in models.values():
        if "prompt_wrapping" in entry and entry["gpus"]:
            for tokens, new in ((200, 20), (200, 5), (200, 128), (80, 5)):
                read = costs.work_parameters(entry) * tokens / costs.GPU_FLOPS[entry["precision"]]
                arithmetic = read + new * costs.token_seconds(entry, tokens + new, 40 * entry["gpus"])
                assert 1 <= costs.prompt_seconds(entry, tokens, new) / arithmetic <= 3


@pytest.mark.parametrize("seconds", [7, 3600, 1e9])
def test_more_jobs_than_a_queue_takes_are_refused_with_the_number_to_set(seconds):
    jobs = {"a": 1, "b": costs.jobs_within(seconds, 1e-4)}
    with pytest.raises(UserError) as caught:
        costs.check_jobs(jobs, "score ruff", 1e-4)
    message = str(caught.value)
    assert message.startswith(
        f"scoring.minutes_per_job is 0.0001: that makes {jobs['b']} jobs to score ruff with model b, more than 1000; "
        "set it to at least "
    )
    enough = float(message.rpartition(" ")[2])
    assert 900 < costs.jobs_within(seconds, enough) <= 1000
    costs.check_jobs({"b": costs.jobs_within(seconds, enough)}, "score ruff", enough)


def test_shards_keep_jobs_within_their_time(models):
    entry = models["albert-xxlarge-v2"]
    count = costs.shard_count(entry, 39_000, 4, 56, 240)
    assert count > 1
    assert 39_000 / count * costs.instance_seconds(entry, 4, 56) <= 240 * 60
    assert costs.shard_count(entry, 39_000, 4, 56, 1e9) == 1
    assert costs.shard_count(models["minilm-l6-mlm"], 500, 4, 56, 240) == 1


def test_embeddings_are_counted_for_ruffs_encoders(models):
    """Token embeddings are vocabulary x width: BERT's are 30,522 x 768."""
    assert models["bert-base"]["embedding_parameters"] == 30522 * 768
    encoders = {n for n, e in models.items() if e["architecture"] == "encoder" and "ruff" in e["studies"]}
    assert encoders == {n for n in encoders if models[n].get("embedding_parameters")}


@pytest.mark.parametrize(
    "name",
    [
        "../weights", "owner/..", "owner/.", "owner/../other", "owner/a..b", "owner/model/../..", "..", "/etc/passwd",
        "owner/", "owner/.hidden", "owner/model.", "owner/-model", "owner/model\n", "owner/a--b", "owner/model.git",
        "owner/mo\x00del", "owner/" + "m" * 97, "https://host/owner/model", "owner\\model", "owner/model?x=1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["source", "tokenizer"])
def test_hub_ids_that_the_hub_cannot_have_are_refused(tmp_path, name, key):
    def change(entries):
        entries["bert-base"][key] = {"hub": name, "revision": None}

    with pytest.raises(UserError) as caught:
        load_changed(tmp_path, change)
    message = str(caught.value)
    assert f"models.bert-base.{key}.hub is" in message and "expected owner/name of the hub" in message
    assert "\n" not in message and len(message) < 400


@pytest.mark.parametrize("name", ["google/flan-t5-xxl", "EleutherAI/pythia-1.4b", "a_b/c_d", "o/m" + "m" * 90])
def test_hub_ids_that_it_can_have_are_taken(tmp_path, name):
    load_changed(tmp_path, lambda entries: entries["bert-base"].update(source={"hub": name, "revision": None}))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("smollm2-135m-instruct", "file", "../../elsewhere/model.gguf"),
        ("smollm2-135m-instruct", "file", "/root/model.gguf"),
        ("smollm2-135m-instruct", "file", "a/../../model.gguf"),
        ("minilm-l6-mlm", "folder", ".."),
        ("minilm-l6-mlm", "folder", "/usr"),
        ("minilm-l6-mlm", "folder", "a/../.."),
    ],
)
def test_files_of_a_package_stay_in_it(tmp_path, name, key, value):
    with pytest.raises(UserError) as caught:
        load_changed(tmp_path, lambda entries: entries[name]["source"].update({key: value}))
    assert f"models.{name}.source.{key} is '{value}'; expected" in str(caught.value)
    assert "inside the package" in str(caught.value)


@pytest.fixture(scope="module")
def systems():
    return module.read_registry(REGISTRY, SCHEMA)["systems"]


def test_coreference_systems_of_the_studies(systems):
    used = {
        study: {e["label"] for e in systems.values() if study in e["studies"]} for study in ("winopron", "counter_gap")
    }
    assert used["counter_gap"] == {"BERT-base", "BERT-large", "SpanBERT-base", "SpanBERT-large"}
    assert used["winopron"] == {"LingMess", "CAW-coref", "SpanBERT-base", "SpanBERT-large"}
    assert {entry["architecture"] for entry in systems.values()} == set(module.ENVIRONMENTS)
    described = module.describe_system(systems["lingmess"])
    assert described["label"] == "LingMess" and described["debiasing"] == "none"


def test_systems_are_chosen_by_name(systems):
    # In registry order, whatever the order of the configuration.
    assert list(module.select_systems(systems, ["lingmess", "bert-base-coref"])) == ["bert-base-coref", "lingmess"]
    with pytest.raises(UserError) as caught:
        module.select_systems(systems, ["lingmes"])
    assert str(caught.value) == (
        "systems: 'lingmes' is no coreference system of config/models.yaml; did you mean 'lingmess'?"
    )


DELTA = {"package": "p", "version": "1", "folder": "f", "delta": "d.safetensors"}


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        (
            "lingmess",
            {"architecture": "lingmes"},
            "systems.lingmess.architecture is 'lingmes'; expected one of c2f, caw",
        ),
        ("lingmess", {"precison": "float32"}, "unknown key 'systems.lingmess.precison'; did you mean 'precision'?"),
        (
            "lingmess",
            {"precision": "bfloat16"},
            "systems.lingmess.precision is bfloat16, but lingmess computes in float32",
        ),
        ("lingmess", {"environment": "main"}, "systems.lingmess.environment is main, but lingmess runs in coreference"),
        (
            "lingmess",
            {"source": DELTA},
            "systems.lingmess: a package with a delta is for c2f; name the hub or a folder",
        ),
        (
            "lingmess",
            {"encoder": {"path": "x"}},
            "systems.lingmess: only caw takes an encoder in addition to its source",
        ),
        (
            "caw-coref",
            {"encoder": None},
            "systems.caw-coref: only caw takes an encoder in addition to its source, and needs one; add",
        ),
        (
            "caw-coref",
            {"source": {"hub": "a/b", "revision": None}},
            "systems.caw-coref.source is not one of caw: name the",
        ),
        (
            "caw-coref",
            {"source": {"hub": "a/b", "revision": None, "file": "x.bin"}},
            "systems.caw-coref.source.file is 'x.bin'; expected a .pt file of the repository",
        ),
        (
            "f-coref",
            {"label": "LingMess"},
            "systems.f-coref has the label and debiasing of systems.lingmess; give it a",
        ),
        ("f-coref", {"debiasing": "n-cda"}, "systems.f-coref.debiasing is 'n-cda'; expected one of none, a-CDA, n-CDA"),
        (
            "f-coref",
            {"source": {"hub": "biu-nlp/lingmess-coref", "revision": None}},
            "has the same source as systems.ling",
        ),
        (
            "f-coref",
            {"demonstration": True},
            "systems.f-coref.label must end with (demonstration) if, and only if, demon",
        ),
        ("lingmess", {"demonstration": True}, "systems.lingmess is a demonstration system and belongs to no study"),
        ("bert-base-coref", {"gated": True}, "systems.bert-base-coref.gated is true but its source is not the hub"),
        ("f-coref", {"gpus": 2}, "systems.f-coref.gpus is '2'; expected 0 or 1"),
    ],
)
def test_entries_of_systems_that_are_refused(tmp_path, name, changes, message):
    content = copy.deepcopy(original())
    entry = content["systems"][name] | changes
    content["systems"][name] = {key: value for key, value in entry.items() if value is not None}
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        module.read_registry(path, SCHEMA)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_a_registry_may_have_systems_alone_and_none_with_the_name_of_a_model(tmp_path):
    content = copy.deepcopy(original())
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps({"systems": {"f-coref": content["systems"]["f-coref"]}}), encoding="utf-8")
    entry = module.UNSTATED | content["systems"]["f-coref"]
    assert module.read_registry(path, SCHEMA) == {"models": {}, "systems": {"f-coref": entry}}
    path.write_text("planned_studies: {}", encoding="utf-8")
    with pytest.raises(UserError, match="the file lacks the key 'models'; add it"):
        module.read_registry(path, SCHEMA)
    content["systems"]["bert-base"] = content["systems"].pop("f-coref")
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError, match=r"systems.bert-base has the name of a model; give it another one"):
        module.read_registry(path, SCHEMA)


def test_what_documents_take(systems):
    """4 x parameters x tokens at 12 TFLOP/s on a GPU, 80 GFLOP/s on a core, and a tenth of a second for each."""
    large, small = systems["spanbert-large-coref"], systems["f-coref"]
    assert costs.document_seconds(large, 100) == pytest.approx(4 * 333579264 * 100 / 12e12 + 0.1)
    assert costs.document_seconds(small, 100) == pytest.approx(4 * (90506496 - 38603520) * 100 / 8e10 + 0.1)
    # A thousand documents on a core: 0.36 s each.
    documents = 1000 * costs.document_seconds(small, 100)
    assert costs.jobs_within(documents, 1) == 6
    assert costs.job_minutes(small, documents) == 10 + 6 + 1 and costs.job_minutes(small, documents / 1000, 3) == 33


def test_two_models_of_a_run_with_one_label_are_refused():
    check_labels({"a": {"label": "A"}, "b": {"label": "B"}}, {"c": {"label": "C"}})
    variants = {"c": {"label": "C", "debiasing": "none"}, "d": {"label": "C", "debiasing": "n-CDA"}}
    check_labels({}, variants)
    with pytest.raises(UserError, match=r"'a' and 'b' have the same label, 'A', .*; change the label of one"):
        check_labels({"a": {"label": "A"}, "b": {"label": "A"}}, {})
    with pytest.raises(UserError, match="'a' and 'c' have the same label, 'C'"):
        check_labels({"a": {"label": "C"}}, {"c": {"label": "C"}})
