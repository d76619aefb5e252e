"""Scores of a model behind a server, and the check of the server, against a local one and the model itself."""

import functools
import json
import shutil

import numpy as np
import pytest

from scripts.core import config, files
from scripts.core.data.options import option_texts
from scripts.core.engines import models, served_scores, server_gate
from scripts.core.errors import UserError
from scripts.scoring import score
from scripts.servers import score_at_server, score_reference
from tests import jobs
from tests import zoo as builder
from tests.core.engines.likelihood_server import LikelihoodServer
from tests.scoring.test_score import write_instances

ANSWERS = ("prompt_logprobs", "echo", "llama_cpp")
NAME = "served"


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    registry = builder.build(tmp_path_factory.mktemp("zoo"), ("tiny-llama", "tiny-gpt-neox"))
    return config.load_yaml(registry)["models"]


@pytest.fixture(scope="module")
def loaded(entries):
    return {name: models.load(name, entry, models.locate(name, entry), "cpu") for name, entry in entries.items()}


@pytest.fixture(scope="module")
def instances(tmp_path_factory):
    return write_instances(tmp_path_factory.mktemp("instances") / "instances.parquet", 20, repeated=3)


@pytest.fixture(scope="module")
def references(entries, instances, tmp_path_factory):
    """Returns the path of the sample's scores by a model that is run here."""

    @functools.cache
    def path(model):
        made = str(tmp_path_factory.mktemp("reference") / "reference.parquet")
        given = {"reference": made, "model": model, "entry": entries[model]}
        score_reference.main(instances=str(instances), device="cpu", **given)
        return made

    return path


@pytest.fixture
def arguments(entries, instances, references, tmp_path):
    """Return the arguments of a job at a server, after the job that scores the sample here."""

    def make(server, answers="prompt_logprobs", reference="tiny-llama", gated=True, **scoring):
        api = {
            "base_url": server.base_url, "model": "tiny", "interface": "completions", "key": None, "top_logprobs": 1,
            "requests_per_minute": 600000, "usd_per_million_tokens": {"prompt": 1, "completion": 1},
            "scoring": {"answers": answers, **scoring},
        }  # fmt: skip
        given = {
            "instances": str(instances), "scores": str(tmp_path / "scores.parquet"), "model": NAME,
            "usage": str(tmp_path / "usage.json"), "cache": str(tmp_path / "cache"), "cost_limit_usd": 1.0,
            "entry": {"api": api, "architecture": "decoder", "demonstration": False}, "parallel": 4,
        }  # fmt: skip
        if not gated:
            api["scoring"] |= {"tokenizer": entries[reference]["source"], "without_gate": True}
            return given
        api["scoring"]["reference"] = reference
        path = shutil.copy(references(reference), tmp_path)
        return given | {"reference": str(path), "reference_entry": entries[reference]}

    return make


@pytest.fixture(scope="module")
def scored_here(entries, instances, tmp_path_factory):
    """The scores of the packed engine, by how options are compared."""

    def scores(kind):
        folder = tmp_path_factory.mktemp("here")
        given = jobs.model_arguments(entries, "tiny-llama", folder)
        path = str(folder / "scores.parquet")
        score.main(**given, instances=str(instances), scores=path, engine="packed", score=kind)
        return files.read_parquet(path)

    return scores


@pytest.mark.parametrize(
    ("answers", "kind"),
    [*((answers, "log_likelihood") for answers in ANSWERS), ("echo", "continuation"), ("llama_cpp", "label_loss")],
)
def test_scores_are_those_of_the_local_engine(loaded, arguments, scored_here, answers, kind):
    with LikelihoodServer(*loaded["tiny-llama"]) as server:
        given = arguments(server, answers)
        score_at_server.main(**given, score=kind)
        sent = len(server.seen)
        score_at_server.main(**given, score=kind)
        assert len(server.seen) == sent
    there, here = files.read_parquet(given["scores"]), scored_here(kind)
    assert list(there.columns) == list(here.columns)
    for column in here:
        if here[column].dtype.kind == "f":
            np.testing.assert_allclose(there[column], here[column], atol=1e-4, err_msg=column)
        else:
            assert there[column].equals(here[column]), column
    facts = files.parquet_metadata(given["scores"])
    assert facts["instances"] == 20
    gate = facts["gate"]
    assert (gate["checked"], gate["texts"], gate["instances"], gate["changed_decisions"]) == (True, 52, 13, 0)
    assert gate["repeated_calls_agree"] and gate["largest_difference_nats"] < 1e-4
    assert gate["reference"]["model"] == "tiny-llama"
    usage = json.loads((files.Path(given["usage"])).read_text())
    assert usage["texts"] == 80 and usage["prompt_tokens"] > 80


@pytest.mark.parametrize("answers", ANSWERS)
def test_a_server_with_a_shifted_distribution_ends_the_run(loaded, arguments, answers):
    with LikelihoodServer(*loaded["tiny-llama"], change=lambda logits: logits * 0.8) as server:
        given = arguments(server, answers)
        with pytest.raises(UserError, match=r"^model served: .* one differs by .* nats, more than 0\.1.*bound_nats"):
            score_at_server.main(**given)
        # Nothing but the sample was asked for: 52 texts, twice, and what is behind the first token.
        assert len(server.seen) <= 2 * 52 + 2
        assert not files.Path(given["scores"]).exists()
        given["entry"]["api"]["scoring"]["bound_nats"] = 1000
        score_at_server.main(**given)
    assert files.parquet_metadata(given["scores"])["gate"]["largest_difference_nats"] > 0.1


@pytest.fixture
def other_model(loaded):
    """The logits of another model of the same vocabulary: those of every token are those of its neighbour."""
    return lambda logits: logits.roll(1, dims=1)


def finish(given):
    """Let a job ask for all that it needs, and return how its score file and its answers are."""
    score_at_server.main(**given)
    kept = {path.name: path.read_text() for path in files.Path(given["cache"]).rglob("*.json")}
    return files.Path(given["scores"]).read_bytes(), kept


@pytest.mark.parametrize("answers", ["prompt_logprobs", "llama_cpp"])
def test_another_model_behind_the_address_ends_a_run_that_goes_on(loaded, arguments, answers, other_model, monkeypatch):
    monkeypatch.setattr(served_scores, "BETWEEN_CHECKS", 8)
    now = {"change": lambda logits: logits}
    with LikelihoodServer(*loaded["tiny-llama"], change=lambda logits: now["change"](logits)) as server:
        given = arguments(server, answers)
        monkeypatch.setattr(score_at_server, "write", lambda *_: pytest.fail("interrupted"))
        with pytest.raises(pytest.fail.Exception):
            score_at_server.main(**given)
        monkeypatch.undo()
        before = {path.name for path in files.Path(given["cache"]).rglob("*.json")}
        now["change"] = other_model
        with pytest.raises(UserError, match=r"^model served: .* now scores .* another model may answer there.*anew"):
            score_at_server.main(**given)
        # The gate was answered from disk, and nothing of the other model is kept.
        assert {path.name for path in files.Path(given["cache"]).rglob("*.json")} == before
        assert not files.Path(given["scores"]).exists()
        now["change"] = lambda logits: logits
        score_at_server.main(**given)


def test_a_model_that_changes_within_a_run_ends_it_and_the_next_run_is_right(
    loaded, arguments, other_model, monkeypatch, tmp_path
):
    monkeypatch.setattr(served_scores, "BETWEEN_CHECKS", 8)
    now = {"change": lambda logits: logits}
    with LikelihoodServer(*loaded["tiny-llama"], change=lambda logits: now["change"](logits)) as server:
        given = arguments(server)
        right, _ = finish(given | {"cache": str(tmp_path / "undisturbed")})
        asked = []
        answer = server.answer

        def counting(body):
            asked.append(body)
            # Behind the gate (52 texts twice), the first check and some texts.
            now["change"] = other_model if len(asked) > 2 * 52 + 3 + 11 else lambda logits: logits
            return answer(body)

        server.answer = counting
        with pytest.raises(UserError, match="another model may answer there"):
            score_at_server.main(**given)
        server.answer = answer
        now["change"] = lambda logits: logits
        again, kept = finish(given)
        assert again == right
        # To begin anew with what is served now, as the message says, another folder takes another gate.
        now["change"] = other_model
        with pytest.raises(UserError, match="nats, more than"):
            score_at_server.main(**given | {"cache": str(tmp_path / "another")})
        assert finish(given)[1] == kept


def test_calls_that_differ_are_told(loaded, arguments):
    drift = iter(range(100000))
    with LikelihoodServer(
        *loaded["tiny-llama"], change=lambda logits: logits * (1 + 1e-5 * (next(drift) % 7))
    ) as server:
        given = arguments(server)
        score_at_server.main(**given)
    gate = files.parquet_metadata(given["scores"])["gate"]
    assert not gate["repeated_calls_agree"] and gate["largest_repeat_difference_nats"] > 0


def test_without_weights_nothing_is_checked_and_the_file_says_so(loaded, arguments):
    with LikelihoodServer(*loaded["tiny-llama"], change=lambda logits: logits * 0.8) as server:
        given = arguments(server, gated=False)
        score_at_server.main(**given)
    assert files.parquet_metadata(given["scores"])["gate"] == {"checked": False}


def test_llama_cpp_is_refused_where_its_numbers_are_one_place_off(loaded, arguments):
    with LikelihoodServer(*loaded["tiny-gpt-neox"]) as server:
        given = arguments(server, "llama_cpp", reference="tiny-gpt-neox")
        with pytest.raises(UserError, match="one place off"):
            score_at_server.main(**given)
        assert not server.seen


@pytest.mark.parametrize("answers", ANSWERS)
def test_a_server_that_reads_other_tokens_is_refused(loaded, arguments, answers, monkeypatch):
    """It splits the text otherwise, or has one token more."""
    with LikelihoodServer(*loaded["tiny-llama"]) as server:
        given = arguments(server, answers)
        plain = LikelihoodServer.answer

        def other(self, body):
            answer = plain(self, body)
            choice = answer["choices"][0]
            if "prompt_logprobs" in choice:
                choice["prompt_logprobs"].append(choice["prompt_logprobs"][-1])
            elif body.get("echo"):
                choice["logprobs"]["tokens"][2] = "qqq"
            return answer

        monkeypatch.setattr(LikelihoodServer, "answer", other)
        with pytest.raises(UserError, match=r"the server reads (it|the text) otherwise"):
            score_at_server.main(**given)


def test_what_costs_too_much_is_not_sent(loaded, arguments):
    with LikelihoodServer(*loaded["tiny-llama"]) as server:
        given = arguments(server) | {"cost_limit_usd": 1e-4}
        with pytest.raises(UserError, match="cost_limit_usd"):
            score_at_server.main(**given)
        assert not server.seen


def test_damaged_answers_and_repeated_attempts_count_against_the_limit(loaded, arguments):
    with LikelihoodServer(*loaded["tiny-llama"]) as server:
        given = arguments(server)
        _, kept = finish(given)
        for path in files.Path(given["cache"]).rglob("*.json"):
            path.write_text("{")
        sent = len(server.seen)
        with pytest.raises(UserError, match=r"requests may cost about USD .*cost_limit_usd \(1e-06\)"):
            score_at_server.main(**given | {"cost_limit_usd": 1e-6})
        assert len(server.seen) == sent
        assert finish(given)[1].keys() == kept.keys()


def test_the_sample_does_not_depend_on_the_order_of_the_file(instances, tmp_path, monkeypatch):
    monkeypatch.setattr(server_gate, "WINDOW", 7)
    frame = files.read_parquet(instances)
    shuffled = tmp_path / "shuffled.parquet"
    files.write_parquet(shuffled, frame.sample(frac=1, random_state=1))
    drawn = server_gate.draw_instances(instances)
    assert drawn.instance_id.tolist() == server_gate.draw_instances(shuffled).instance_id.tolist()
    assert len(option_texts(drawn)) == 52
    assert len(server_gate.draw_instances(instances, texts=1000)) == 20
