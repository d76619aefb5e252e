"""A tiny encoder with its tokenizer, a tiny configuration, and documents of this project's own."""

import json
import string
from pathlib import Path

import torch

from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.configuration import Configuration
from scripts.core.coreference_systems.documents import AnnotatedDocument
from scripts.core.models.weights import read_tensors

WORDS = [
    "the", "a", "and", "gave", "to", "her", "him", "his", "she", "he", "they", "them", "letter", "boat", "door",
    "opened", "closed", "saw", "then", "smiled", "because", "of", "old", "captain", "sister", "was", "tired", ".",
    ",", '"', "!", "in", "harbour", "garden", "anna", "berta", "carl", "dora", "emil", "fritz", "greta", "hans",
]  # fmt: skip

# The features that the published system has not.
DEPARTURES = {
    "unit": "word", "projection_size": 24, "case_features": True, "string_features": True, "plain_marks": True,
    "log_sigmoid_scores": True, "singletons": True, "top_span_multiple": 4,
}  # fmt: skip


def encoder(folder, seed=0, hidden=32, layers=2):
    """Write a random BERT encoder with a tokenizer of word pieces to a folder and return the folder."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    letters = string.ascii_lowercase + "0123456789'-()"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in dict.fromkeys(pieces)), encoding="utf-8")
    tokenizer = BertTokenizerFast(str(folder / "vocab.txt"))
    torch.manual_seed(seed)
    model = BertModel(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=hidden,
            num_hidden_layers=layers,
            num_attention_heads=2,
            intermediate_size=2 * hidden,
            max_position_embeddings=128,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def configuration(**changes):
    """Return a configuration with small layers; by default with all that the published system has."""
    small = {
        "max_segment_pieces": 24, "max_span_width": 4, "ffnn_size": 16, "feature_size": 5, "segment_distances": 3,
        "max_antecedents": 10, "dropout": 0.0,
    }  # fmt: skip
    return Configuration(**small | changes)


def recipe(system):
    """Return how a system's weights were made, as its folder or delta says."""
    path = Path(system)
    return json.loads(read_tensors(path / checkpoints.WEIGHTS if path.is_dir() else path)[1][checkpoints.RECIPE])


def document(name, sentences, clusters):
    """Return a document of sentences of words, in which a mention is given as (sentence, first, last) of its words."""
    words, ranges = [], []
    for sentence in sentences:
        ranges.append((len(words), len(words) + len(sentence.split())))
        words += sentence.split()
    made = [tuple((ranges[s][0] + first, ranges[s][0] + last) for s, first, last in cluster) for cluster in clusters]
    return AnnotatedDocument(name, tuple(words), tuple(ranges), tuple(made))


def documents():
    """Return three short documents with people, pronouns and a thing each."""
    return [
        document(
            "harbour",
            [
                "Anna saw the old captain in the harbour .",
                "She gave him the letter .",
                "The captain opened it and smiled .",
            ],
            [[(0, 0, 0), (1, 0, 0)], [(0, 2, 4), (1, 2, 2), (2, 0, 1)], [(1, 3, 4), (2, 3, 3)]],
        ),
        document(
            "garden",
            [
                "Berta and Carl closed the door .",
                "Carl was tired , and Berta gave him her boat .",
                "Then she smiled because he was in the garden .",
            ],
            [[(0, 0, 0), (1, 5, 5), (1, 8, 8), (2, 1, 1)], [(0, 2, 2), (1, 0, 0), (1, 7, 7), (2, 4, 4)]],
        ),
        document(
            "letter",
            [
                "Dora gave Emil a letter .",
                '" The letter was old ! "',
                "Emil gave it to his sister , and she opened it .",
            ],
            [
                [(0, 2, 2), (2, 0, 0), (2, 4, 4)],
                [(0, 3, 4), (1, 1, 2), (2, 2, 2), (2, 10, 10)],
                [(2, 4, 5), (2, 8, 8)],
            ],
        ),
    ]
