"""Prompts that a model behind a server is asked."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import model_outputs
from scripts.prompting import ask_server, merge_answers
from tests.core.generation.completion_server import KEY, answer, serve
from tests.prompting.test_prompt import write_prompts


@pytest.mark.parametrize("interface", ["chat", "completions"])
def test_answers_are_those_of_the_server_without_thoughts(tmp_path, monkeypatch, interface):
    monkeypatch.setenv("TEST_SERVER_KEY", KEY)
    prompts = write_prompts(tmp_path / "prompts.parquet", 6)
    prompts = prompts[prompts.method == "vanilla"]
    with serve() as server:
        thought = answer({"messages": []} if interface == "chat" else {})
        said = "<think>It may be him.</think>her"
        thought["choices"][0].update({"message": {"content": said}} if interface == "chat" else {"text": said})
        cut = answer({"messages": []} if interface == "chat" else {})
        cut["choices"][0].update({"message": {"content": ""}} if interface == "chat" else {"text": "<think>It may"})
        if interface == "chat":
            cut["choices"][0]["message"]["reasoning_content"] = "It may"
        cut["choices"][0]["finish_reason"] = "length"
        server.script = [thought, cut]
        api = {"base_url": server.base_url, "model": "any", "interface": interface, "key": "TEST_SERVER_KEY"}
        given = {
            "prompts": str(tmp_path / "prompts.parquet"), "answers": str(tmp_path / "1of1.parquet"), "model": "mine",
            "entry": {"api": api | {"top_logprobs": 1}, "architecture": "decoder", "demonstration": False},
            "methods": ["vanilla"], "new_tokens": 20, "cache": str(tmp_path / "cache"),
        }  # fmt: skip
        ask_server.main(**given)
        asked = [body["messages"][0]["content"] if interface == "chat" else body["prompt"] for *_, body in server.seen]
        assert asked == prompts.text.tolist() and server.seen[0][2]["max_tokens"] == 20
        ask_server.main(**given)
        assert len(server.seen) == len(prompts)
    merge_answers.main(shards=[given["answers"]], answers=str(tmp_path / "merged.parquet"))
    found = model_outputs.read_answers(tmp_path / "merged.parquet", "mine", prompts)
    assert found.answer.tolist() == ["her", "", *[" she."] * (len(prompts) - 2)]
    assert found.answer_thought.tolist()[:2] == ["It may be him.", "It may"]
    assert found.answer_thought_closed.tolist()[:2] == [True, False]
    assert found.answer_finished.tolist()[:3] == [True, False, True] and pd.isna(found.answer_thought[2])
    facts = files.parquet_metadata(tmp_path / "merged.parquet")
    assert (facts["thoughts"], facts["thoughts_cut_off"], facts["new_tokens"]) == (2, 1, 2 * len(prompts))
    assert facts["source"] == {"base_url": api["base_url"], "model": "any", "interface": interface}
