"""Plain texts resolved: tokens and sentences by offsets, and texts that do not touch each other."""

import pytest
import torch

from scripts.core.coreference_systems.c2f import checkpoints, resolve
from scripts.core.data import coreference
from tests import zoo
from tests.core.coreference_systems import tiny
from tests.refusals import refused

LONG = " ".join(f"Anna saw the captain {n} times, and she gave him the letter." for n in range(40))
TEXTS = [
    ("short", "Anna saw Carl. She gave him the letter."),
    ("quoted", "\u201cThe boat!\u201d he said.  \u201cDora didn\u2019t see it.\u201d"),
    ("long", LONG),
    ("empty", ""),
    ("blank", " \n "),
    ("astral", "\U0001f600 Emil opened the door; he smiled \U0001f600."),
]


@pytest.fixture(scope="module", params=["published", "demonstration"])
def resolver(request, tmp_path_factory):
    encoder = tiny.encoder(tmp_path_factory.mktemp("encoder") / "e")
    changes = {} if request.param == "published" else tiny.DEPARTURES
    torch.manual_seed(1)
    model, tokenizer = checkpoints.build_model(encoder, tiny.configuration(**changes))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not name.startswith("encoder."):
                parameter += 0.3 * torch.randn_like(parameter)
    return resolve.Resolver(model, tokenizer, zoo.DEVICE)


def test_tokens_are_ranges_of_the_text():
    text = "Mr. Bell and J. Marsh didn't see Ann's well-known \u201cboat\u201d... They\u2019ve gone."
    tokens = [text[start:end] for start, end in resolve.split_words(text)]
    assert " ".join(tokens) == (
        "Mr. Bell and J. Marsh did n't see Ann 's well - known \u201c boat \u201d ... They \u2019ve gone ."
    )


def test_sentences_end_with_their_marks():
    text = 'Mr. Bell slept. "Go!" he said (softly.) Then \u2026 why?! Ann went, and "Carl" too'
    tokens = resolve.split_words(text)
    words = [text[start:end] for start, end in tokens]
    found = [" ".join(words[start:end]) for start, end in resolve.split_sentences(text, tokens)]
    assert found == [
        "Mr. Bell slept .",
        '" Go ! "',
        "he said ( softly . )",
        "Then \u2026 why ? !",
        'Ann went , and " Carl " too',
    ]
    assert resolve.split_sentences("", ()) == ()


def test_documents_are_those_of_the_common_format(resolver, tmp_path):
    documents = list(resolver.resolve(TEXTS))
    coreference.write_clusters(tmp_path / "clusters.jsonl", documents)
    assert coreference.read_clusters(tmp_path / "clusters.jsonl", dict(TEXTS)) == {d.document: d for d in documents}
    # A test that finds nothing would say nothing.
    assert sum(len(cluster) for document in documents for cluster in document.clusters) > 20
    for document in documents:
        mentions = [mention for cluster in document.clusters for mention in cluster]
        assert len(mentions) == len(set(mentions)) and list(document.clusters) == sorted(document.clusters)
        assert resolver.model.configuration.singletons or all(len(cluster) > 1 for cluster in document.clusters)
    by_name = {document.document: document for document in documents}
    assert by_name["empty"].tokens == by_name["blank"].clusters == ()
    # Mentions of the long text lie in more than one of the windows that the encoder reads.
    mentions = [mention for cluster in by_name["long"].clusters for mention in cluster]
    assert min(mentions)[0] < 50
    assert max(mentions)[0] > len(by_name["long"].tokens) - 50


def test_a_text_is_resolved_alike_whatever_comes_with_it(resolver):
    together = {document.document: document for document in resolver.resolve(TEXTS)}
    backwards = {document.document: document for document in resolver.resolve(reversed(TEXTS))}
    for name, text in TEXTS:
        (alone,) = resolver.resolve([(name, text)])
        assert alone == together[name] == backwards[name]


def test_short_texts_of_one_shape_are_encoded_together(resolver):
    passes = []
    hook = resolver.model.encoder.register_forward_pre_hook(
        lambda _module, _arguments, inputs: passes.append(tuple(inputs["input_ids"].shape)), with_kwargs=True
    )
    short = [(str(number), f"Anna saw Carl {number} times.") for number in range(9)]
    list(resolver.resolve([*short[:4], ("long", LONG), *short[4:]]))
    hook.remove()
    assert [rows for rows, length in passes if length == min(length for _, length in passes)] == [9]
    assert len(passes) == 2


def test_what_cannot_be_resolved_is_named(resolver, monkeypatch):
    monkeypatch.setattr(resolve, "MAX_WORDS", 10)
    assert next(resolver.resolve([("fits", "Anna saw the old captain in the boat.")])).document == "fits"
    with refused("'long'", "560 words", "10", "divide"):
        list(resolver.resolve(TEXTS[2:]))
