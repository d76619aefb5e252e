"""From a checkpoint to its registry entry without weights. What the Hub gives: tests/core/models/test_hub.py."""

import json
import tempfile
from pathlib import Path

import pytest
import yaml

from scripts.core.errors import UserError
from scripts.core.models import descriptions, registry
from scripts.core.models.entries import read_source

ROOT = Path(__file__).parents[3]
LICENSED = "---\nlicense: other\nlicense_name: mine\n---\n# A model\n"
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "vocab_size": 100,
    "max_position_embeddings": 2048,
    "torch_dtype": "bfloat16",
}
BERT = {
    "architectures": ["BertForMaskedLM"],
    "model_type": "bert",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "vocab_size": 100,
    "max_position_embeddings": 512,
}
T5 = {
    "architectures": ["T5ForConditionalGeneration"],
    "model_type": "t5",
    "is_encoder_decoder": True,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": 2,
    "num_heads": 4,
    "vocab_size": 100,
}


def described(folder, configuration, members=None, **facts):
    for name, text in ({"config.json": json.dumps(configuration), "README.md": LICENSED} | (members or {})).items():
        (folder / name).write_text(text, encoding="utf-8")
    return descriptions.of_folder(folder, **facts)


def valid(entry):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "models.yaml"
        path.write_text(yaml.safe_dump({"models": {"it": entry}}), encoding="utf-8")
        return registry.read_registry(path, ROOT / "config/schemas/models.schema.yaml").models["it"]


def test_a_large_chat_model(tmp_path):
    members = {"tokenizer_config.json": json.dumps({"chat_template": "{{ messages }}"})}
    large = {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 48, "vocab_size": 32000}
    source = {"hub": "lab/Model-7B", "revision": "a" * 40}
    found = described(tmp_path, LLAMA | large, members, source=source, gated=True)
    entry = valid(descriptions.entry_of(found))
    assert (entry.source, entry.label) == (read_source(source), "Model-7B")
    assert entry.architecture == "decoder"
    assert 6e9 < entry.parameters < 12e9
    assert (entry.precision, entry.gpus, entry.context) == ("bfloat16", 1, 2048)
    assert (entry.licence, entry.gated, entry.prompt_wrapping) == ("mine", True, "chat_template")
    assert json.loads(json.dumps(found)) == found


def test_parameters_are_those_of_the_loaded_configuration(tmp_path):
    from transformers import BertConfig, BertForMaskedLM

    found = described(tmp_path, BERT)
    entry = valid(descriptions.entry_of(found))
    assert entry.parameters == BertForMaskedLM(BertConfig(**BERT)).num_parameters()
    assert (entry.architecture, entry.context, entry.precision, entry.gpus) == (
        "encoder",
        512,
        "float32",
        0,
    )
    assert entry.prompt_wrapping is None


def test_an_encoder_decoder_is_prompted(tmp_path):
    found = described(tmp_path, T5)
    entry = valid(descriptions.entry_of(found))
    assert (entry.architecture, entry.labels, entry.prompt_wrapping) == ("encoder-decoder", "span", "none")
    assert entry.context is None


def test_a_folder_says_the_same(tmp_path):
    from transformers import BertConfig, BertForMaskedLM

    model = BertForMaskedLM(BertConfig(**BERT))
    model.save_pretrained(tmp_path / "My_Model")
    (tmp_path / "My_Model/README.md").write_text("---\nlicense: mit\n---\n# It\n", encoding="utf-8")
    entry = valid(descriptions.entry_of(descriptions.of_folder(tmp_path / "My_Model")))
    assert entry.label == "My_Model"
    assert entry.licence == "mit"
    assert entry.parameters == model.num_parameters()


def test_what_cannot_be_found_out_is_asked_for_in_one_line(tmp_path):
    found = described(
        tmp_path, LLAMA | {"num_attention_heads": 0}, members={"README.md": "---\nlicense: [\n---\n# Not YAML\n"}
    )
    with pytest.raises(UserError) as error:
        descriptions.entry_of(found)
    message = str(error.value)
    assert message.count("\n") == 0
    assert message.endswith("in the model's entry: parameters=... licence=...")
    given = descriptions.stated_facts({"parameters": 1000, "licence": "MIT"})
    assert valid(descriptions.entry_of(found, given)).licence == "MIT"


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        (BERT | {"architectures": ["BertForSequenceClassification"]}, "BertForSequenceClassification, which no study"),
        (BERT | {"architectures": None}, "names no class in its config.json, which no study"),
        (LLAMA | {"auto_map": {"AutoModelForCausalLM": "m.M"}}, "custom code.*remote_code=true"),
    ],
)
def test_a_model_that_fits_nothing_is_told_why(tmp_path, configuration, said):
    found = described(tmp_path, configuration)
    with pytest.raises(UserError, match=said):
        descriptions.entry_of(found)


def test_code_of_a_checkpoint_may_be_left_aside(tmp_path):
    found = described(tmp_path, LLAMA | {"auto_map": {"AutoModelForCausalLM": "m.M"}})
    given = {"parameters": 1000, "licence": "MIT"}
    for allowed in (True, False):
        assert valid(descriptions.entry_of(found, given | {"remote_code": allowed})).remote_code is allowed


def test_stated_facts_have_types():
    with pytest.raises(UserError, match="parameters: 'many' is not a whole number"):
        descriptions.stated_facts({"parameters": "many"})


@pytest.mark.parametrize(
    ("parameters", "dtype", "precision"),
    [(1e9, "bfloat16", "float32"), (7e9, "float16", "float16"), (7e9, "float32", "bfloat16"), (7e9, None, "bfloat16")],
)
def test_precision_follows_size_and_what_is_stored(parameters, dtype, precision):
    assert descriptions.precision_of(parameters, dtype) == precision
