"""Training of c2f systems: the plan, going on after a kill, the choice of an epoch, and that a model can learn."""

import itertools
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from scripts.core.coreference_systems import rewriting, training
from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.windows import Splitter
from tests import zoo
from tests.core.coreference_systems import tiny
from tests.refusals import refused

NAMES = rewriting.Names(("Greta", "Dora"), ("Hans", "Fritz"), ("Bell", "Marsh"))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny.encoder(tmp_path_factory.mktemp("encoder") / "e")


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def train(encoder, settings, report=lambda news: None, state=None, **changes):
    """Train a new tiny model with everything that the demonstration system has; return it and its history."""
    demonstration = {**tiny.DEPARTURES, "lora_rank": 4, "shared_dropout": True, "dropout": 0.1}
    configuration = tiny.configuration(**{**demonstration, **changes})
    torch.manual_seed(settings.seed)
    model, tokenizer = checkpoints.build_model(encoder, configuration, attention="eager")
    documents = tiny.documents()
    splitter = Splitter(tokenizer, configuration)
    state = state or Path(tempfile.mkdtemp(dir=encoder.parent)) / "state.pt"
    options = {"device": zoo.DEVICE, "names": NAMES, "report": report, "state": state}
    run = training.Training(model, splitter, documents, documents, settings, **options)
    run.run()
    return model, run.history


def settings(**changes):
    values = {
        "epochs": 4, "task_learning_rate": 3e-3, "encoder_learning_rate": 3e-3, "parts": [1, 2], "mention_loss": 1.0,
        "loss_per_word": 0.2, "rewriting": {"replaced": 0.5, "inserted": 0.5, "they": 0.5, "one_gender": 0.3},
    }  # fmt: skip
    return training.Settings.parse(values | changes, "tiny")


class Killed(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize(
    ("killed_in", "saved_every"),
    [
        pytest.param(5, 1, id="within an epoch"),
        pytest.param(7, 1000, id="after an epoch"),
        *(pytest.param(*case, marks=pytest.mark.nightly) for case in ((1, 1), (7, 3), (8, 2))),
    ],
)
def test_a_killed_run_goes_on_to_the_same_weights(encoder, tmp_path, monkeypatch, killed_in, saved_every):
    whole, history = train(encoder, settings(accumulation=2))
    take = training.Training._take_step
    monkeypatch.setattr(training, "SAVE_EVERY", saved_every)

    def killed(self, pieces):
        if self.step == killed_in:
            raise Killed
        take(self, pieces)

    state = tmp_path / "state" / "state.pt"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(training.Training, "_take_step", killed)
        train(encoder, settings(accumulation=2), state=state)
    told = []
    again, later = train(encoder, settings(accumulation=2), told.append, state=state)
    step = int(told[0].removeprefix("going on after step ").split()[0])
    assert step == killed_in if saved_every == 1 else 0 < step <= killed_in
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    clocks = ("seconds", "words_per_second")
    untimed = [[{k: v for k, v in entry.items() if k not in clocks} for entry in one] for one in (history, later)]
    assert untimed[0] == untimed[1]


def test_a_state_that_is_not_this_runs_is_refused(encoder, tmp_path):
    state = tmp_path / "state.pt"
    train(encoder, settings(epochs=1), state=state)
    with refused(state, "other documents or settings", "delete"):
        train(encoder, settings(epochs=1, seed=1), state=state)
    state.write_bytes(b"no state")
    with refused(state, "cannot be read", "delete"):
        train(encoder, settings(epochs=1), state=state)


def test_the_best_epoch_on_the_development_documents_is_kept(encoder, monkeypatch):
    weights, told = [], iter([0.2, 0.6, 0.6, 0.1])

    def score(model, *_):
        weights.append({name: value.clone() for name, value in checkpoints.trained_parameters(model).items()})
        return {"conll": next(told)}

    monkeypatch.setattr(training, "score_model", score)
    model, history = train(encoder, settings())
    assert [entry["development"]["conll"] for entry in history] == [0.2, 0.6, 0.6, 0.1]
    for name, value in checkpoints.trained_parameters(model).items():
        assert torch.equal(value, weights[1][name]), name


@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param({"unit": "piece", "projection_size": 0, "log_sigmoid_scores": False}, marks=pytest.mark.nightly),
    ],
    ids=["words", "pieces"],
)
def test_three_documents_are_learned_by_heart(encoder, changes):
    plain = settings(epochs=60, parts=[1], rewriting={}, task_learning_rate=5e-3, encoder_learning_rate=5e-3)
    _, history = train(encoder, plain, **{"dropout": 0.0, **changes})
    assert max(entry["development"]["conll"] for entry in history) > 0.95


@pytest.mark.nightly
def test_the_published_system_learns_three_documents_by_heart(encoder, tmp_path):
    published = training.Settings.parse(
        {"epochs": 80, "encoder_learning_rate": 1e-3, "task_learning_rate": 3e-3, "max_training_segments": 3}, "tiny"
    )
    configuration = tiny.configuration(embedding_deviation=0.5, top_span_ratio=1.5, max_segment_pieces=60)
    torch.manual_seed(0)
    model, tokenizer = checkpoints.build_model(encoder, configuration)
    documents = tiny.documents()
    given = {"device": zoo.DEVICE, "names": None, "state": tmp_path / "state.pt", "report": lambda news: None}
    run = training.Training(model, Splitter(tokenizer, configuration), documents, documents, published, **given)
    run.run()
    assert max(entry["development"]["conll"] for entry in run.history) > 0.95


def test_each_epoch_reads_whole_documents_in_parts():
    documents = tiny.documents()
    plan = training.plan_epochs(documents, settings(epochs=5, parts=[1, 2, 3]), None)
    assert len(plan) == 5
    assert len({tuple(pieces) for pieces in plan}) > 1
    for pieces in plan:
        for number, document in enumerate(documents):
            ranges = sorted((piece.start, piece.end) for piece in pieces if piece.document == number)
            assert ranges[0][0] == 0
            assert ranges[-1][1] == len(document.words)
            assert all(end == start for (_, end), (start, _) in itertools.pairwise(ranges))
            assert {start for start, _ in ranges} <= {start for start, _ in document.sentences}
    assert plan == training.plan_epochs(documents, settings(epochs=5, parts=[1, 2, 3]), None)


def test_each_epoch_reads_some_segments_of_each_document():
    documents = tiny.documents()
    made = settings(epochs=20, parts=[], max_training_segments=2)
    plan = training.plan_epochs(documents, made, lambda document: document.sentences)
    ranges = {(piece.document, piece.start, piece.end) for pieces in plan for piece in pieces}
    first, second, third = documents[0].sentences
    assert {item[1:] for item in ranges if item[0] == 0} == {(first[0], second[1]), (second[0], third[1])}
    whole = training.plan_epochs(documents, replace(made, max_training_segments=0), lambda document: document.sentences)
    assert {(piece.start, piece.end) for piece in whole[0]} == {(0, len(d.words)) for d in documents}


def test_a_part_of_a_document_keeps_what_lies_within():
    document = replace(tiny.documents()[0], speakers=tuple("a" * 9 + "b" * 13))
    part = training.cut_document(document, 9, 22)
    assert part.words == document.words[9:]
    assert part.sentences == ((0, 6), (6, 13))
    assert part.clusters == (((0, 0),), ((2, 2), (6, 7)), ((3, 4), (9, 9)))
    assert part.speakers == tuple("b" * 13)


def test_rates_rise_and_fall():
    factors = [training.rate_factor(step, 100, 0.1) for step in range(100)]
    assert factors[0] == 0.1
    assert max(factors) == factors[9] == factors[10] == 1.0
    assert factors[55] == 0.5
    assert factors[99] == pytest.approx(1 / 90)


def test_only_the_encoders_rate_rises_and_its_norms_do_not_decay_as_published(encoder):
    model, _ = checkpoints.build_model(encoder, tiny.configuration())
    variables = checkpoints.trained_parameters(model)
    groups = training._groups(variables, training.Settings())
    assert [group["weight_decay"] for group in groups] == [0.01, 0.0, 0.0]
    assert [group["warm_up_share"] for group in groups] == [0.1, 0.1, 0.0]
    assert [group["full_rate"] for group in groups] == [1e-5, 1e-5, 2e-4]
    assert sum(len(group["params"]) for group in groups) == len(variables)
    assert all(value.dim() == 2 for value in groups[0]["params"])
    assert {value.dim() for value in groups[1]["params"]} == {1}
    assert [training.rate_factor(step, 10, 0.0) for step in (0, 1, 9)] == [1.0, 1.0, pytest.approx(1 / 9)]
    decayed = training._groups(variables, training.Settings(decay_norms=True))
    assert [len(group["params"]) for group in decayed] == [
        len(groups[0]["params"]) + len(groups[1]["params"]),
        len(groups[2]["params"]),
    ]


# What a number, a truth or a list must be is tested with the configuration, which is read alike.
REFUSED = {
    "unknown": ({"epoch": 3}, ["'epoch'", "remove"]),
    "no epoch": ({"epochs": 0}, ["epochs", "at least 1"]),
    "precision": ({"precision": "float16"}, ["'float16'", "float32", "bfloat16"]),
    "parts": ({"parts": [0]}, ["parts", "above 0"]),
    "share": ({"rewriting": {"they": 2}}, ["rewriting", "they", "at most 1"]),
    "unknown share": ({"rewriting": {"them": 0.1}}, ["rewriting", "'them'", "remove"]),
}


@pytest.mark.parametrize(("values", "named"), REFUSED.values(), ids=REFUSED)
def test_settings_that_cannot_be_used_are_refused(values, named):
    with refused("here", *named):
        training.Settings.parse(values, "here")


def test_rewriting_needs_names_and_training_documents(encoder):
    for documents, names, named in ((tiny.documents(), None, "list of names"), ([], NAMES, "no documents")):
        with refused(named):
            training.Training(
                None, None, documents, [], settings(), names=names, device="cpu", state="state.pt", report=print
            )


def test_a_loss_that_is_not_finite_stops_training(encoder):
    broken = replace(settings(), task_learning_rate=1e30, warm_up_share=0.0)
    with refused("loss of step", "finite", "learning rates"):
        train(encoder, broken)
