"""Training of c2f systems: the plan, going on after a kill, the choice of an epoch, and that a model can learn."""

from dataclasses import replace

import pytest
import torch

from scripts.core.coreference_systems import training
from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.windows import Splitter
from tests import zoo
from tests.core.coreference_systems import tiny
from tests.refusals import refused

SETTINGS = training.Settings(
    epochs=4, encoder_learning_rate=3e-3, task_learning_rate=3e-3, max_training_segments=2, seed=0
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return tiny.encoder(tmp_path_factory.mktemp("encoder") / "e")


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def train(encoder, tmp_path):
    """Train a new tiny model; return it and its history."""

    def trained(settings, report=lambda news: None, state="state.pt", documents=tiny.documents(), **changes):  # noqa: B008
        configuration = tiny.configuration(dropout=0.1, **changes)
        torch.manual_seed(settings.seed)
        model, tokenizer = checkpoints.build_model(encoder, configuration)
        splitter = Splitter(tokenizer, configuration)
        options = {"device": zoo.DEVICE, "report": report, "state": tmp_path / state}
        run = training.Training(model, splitter, documents, documents, settings, **options)
        run.run()
        return model, run.history

    return trained


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
def test_a_killed_run_goes_on_to_the_same_weights(train, monkeypatch, killed_in, saved_every):
    whole, history = train(SETTINGS, state="whole.pt")
    take = training.Training._take_step
    monkeypatch.setattr(training, "SAVE_EVERY", saved_every)

    def killed(self, piece):
        if self.step == killed_in:
            raise Killed
        take(self, piece)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(training.Training, "_take_step", killed)
        train(SETTINGS)
    told = []
    again, later = train(SETTINGS, told.append)
    step = int(told[0].removeprefix("going on after step ").split()[0])
    assert step == killed_in if saved_every == 1 else 0 < step <= killed_in
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    assert history == later


def test_a_state_that_is_not_this_runs_is_refused(train, tmp_path):
    short = replace(SETTINGS, epochs=1)
    train(short)
    with refused("state.pt", "other documents or settings", "delete"):
        train(replace(short, seed=1))
    (tmp_path / "state.pt").write_bytes(b"no state")
    with refused("state.pt", "cannot be read", "delete"):
        train(short)


def test_the_best_epoch_on_the_development_documents_is_kept(train, monkeypatch):
    weights, scores = [], iter([0.2, 0.6, 0.6, 0.1])

    def score(model, *_):
        weights.append({name: value.clone() for name, value in model.named_parameters()})
        return {"conll": next(scores)}

    monkeypatch.setattr(training, "score_model", score)
    model, history = train(SETTINGS)
    assert [entry["development"]["conll"] for entry in history] == [0.2, 0.6, 0.6, 0.1]
    for name, value in model.named_parameters():
        assert torch.equal(value, weights[1][name]), name


def test_three_documents_are_learned_by_heart(train):
    settings = replace(SETTINGS, epochs=80, encoder_learning_rate=1e-3, max_training_segments=3)
    _, history = train(settings, top_span_ratio=1.5, max_segment_pieces=60)
    assert max(entry["development"]["conll"] for entry in history) > 0.95


def test_each_epoch_reads_some_segments_of_each_document():
    documents = tiny.documents()
    plan = training.plan_epochs(documents, replace(SETTINGS, epochs=20), lambda document: document.sentences)
    assert [sorted(piece.document for piece in pieces) for pieces in plan] == [[0, 1, 2]] * 20
    assert len({tuple(piece.document for piece in pieces) for pieces in plan}) > 1
    ranges = {(piece.start, piece.end) for pieces in plan for piece in pieces if piece.document == 0}
    first, second, third = documents[0].sentences
    assert ranges == {(first[0], second[1]), (second[0], third[1])}
    whole = training.plan_epochs(
        documents, replace(SETTINGS, max_training_segments=9), lambda document: document.sentences
    )
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
    assert [training.rate_factor(step, 10, 0.0) for step in (0, 1, 9)] == [1.0, 1.0, pytest.approx(1 / 9)]


def test_only_the_encoders_rate_rises_and_its_norms_do_not_decay_as_published(encoder):
    model, _ = checkpoints.build_model(encoder, tiny.configuration())
    variables = dict(model.named_parameters())
    rates = replace(SETTINGS, encoder_learning_rate=1e-5, task_learning_rate=2e-4)
    groups = training.group_parameters(variables, rates)
    assert [group["weight_decay"] for group in groups] == [0.01, 0.0, 0.0]
    assert [group["warm_up_share"] for group in groups] == [0.1, 0.1, 0.0]
    assert [group["full_rate"] for group in groups] == [1e-5, 1e-5, 2e-4]
    assert sum(len(group["params"]) for group in groups) == len(variables)
    assert all(value.dim() == 2 for value in groups[0]["params"])
    assert {value.dim() for value in groups[1]["params"]} == {1}


def test_training_without_documents_and_a_loss_that_is_not_finite_are_refused(train):
    with refused("no documents"):
        train(SETTINGS, documents=[])
    with refused("loss of step", "finite", "learning rates"):
        train(replace(SETTINGS, task_learning_rate=1e30))
