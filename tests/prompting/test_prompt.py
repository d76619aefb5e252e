"""A prompting job: what the model is shown, both steps, resuming after it was killed, shards, and what it writes."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.generation.generate import Generator
from scripts.core.workflow.parts import Parts
from scripts.prompting import merge_answers, prompt
from tests import jobs
from tests import zoo as builder
from tests.refusals import refused

NAMES = ("tiny-llama", "tiny-flan-t5", "tiny-qwen")
NEW = {"answer": 5, "chain": 9, "final": 3}
FOLLOW_UP = "{first} {chain}\nTherefore, it is"


def write_prompts(path, count):
    """Write ``count`` prompts of different lengths, every third with a second step."""
    words = ["baker", "client", "long bill", "garden wall", "passenger", "late train", "cook"]
    rows = [
        {
            "text_id": f"t{i:03d}",
            "method": "think" if i % 3 == 2 else "vanilla",
            "text": " near the ".join(["The clerk saw the", *(words[i // 7**k % 7] for k in range(1 + i % 4))]),
            "follow_up": FOLLOW_UP if i % 3 == 2 else None,
        }
        for i in range(count)
    ]
    files.write_parquet(path, pd.DataFrame(rows))
    return pd.DataFrame(rows)


def arguments(entries, folder, path, model="tiny-llama", **changed):
    """Return the keyword arguments of a prompting job."""
    return {
        **jobs.model_arguments(entries, model, folder),
        "prompts": str(path),
        "answers": str(folder / "answers.parquet"),
        "methods": ["vanilla", "think"],
        "new_tokens": NEW,
        "date": "2024-07-26",
        **changed,
    }


SHOWN = {
    "tiny-llama": "[INST] {} [/INST]",
    "tiny-flan-t5": "{}",
    "tiny-qwen": "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n",
}


@pytest.mark.parametrize("model", NAMES)
def test_both_steps_are_kept_and_shown_to_the_model_as_its_entry_says(entries, tmp_path, model):
    rows = write_prompts(tmp_path / "prompts.parquet", 20)
    prompt.main(**arguments(entries, tmp_path, tmp_path / "prompts.parquet", model))
    table = files.read_parquet(tmp_path / "answers.parquet")
    assert table.text_id.tolist() == rows.text_id.tolist()
    network, tokenizer = builder.load(model, entries[model])

    def alone(text, most):
        shown = SHOWN[model].format(text)
        return Generator(network, tokenizer, most).answer([shown])[0]

    for row, found in zip(rows.itertuples(index=False), table.itertuples(index=False), strict=True):
        if row.method == "vanilla":
            expected = alone(row.text, NEW["answer"])
            assert pd.isna(found.chain)
            assert pd.isna(found.chain_tokens)
        else:
            chain = alone(row.text, NEW["chain"])
            assert found.chain == chain.text
            assert found.chain_tokens == len(chain.tokens)
            expected = alone(f"{row.text} {chain.text.strip()}\nTherefore, it is", NEW["final"])
        assert found.answer == expected.text
        assert found.answer_tokens == len(expected.tokens)
        assert found.answer_finished == expected.finished
    facts = files.parquet_metadata(tmp_path / "answers.parquet")
    assert facts["model"] == model
    assert facts["prompt_wrapping"] == entries[model]["prompt_wrapping"]
    assert facts["prompts"] == 20
    assert facts["new_tokens"] == table.answer_tokens.sum() + table.chain_tokens.sum()
    assert facts["prompts_sha256"] == files.sha256(tmp_path / "prompts.parquet")
    assert not (tmp_path / "answers.parts").exists()


def test_only_the_methods_of_the_model_are_asked_and_one_step_needs_no_tokens_for_a_second(entries, tmp_path):
    rows = write_prompts(tmp_path / "prompts.parquet", 12)
    given = arguments(entries, tmp_path, tmp_path / "prompts.parquet", methods=["vanilla"], new_tokens={"answer": 5})
    prompt.main(**given)
    table = files.read_parquet(tmp_path / "answers.parquet")
    assert table.text_id.tolist() == rows[rows.method == "vanilla"].text_id.tolist()
    assert table.answer.notna().all() and table.chain.isna().all()
    with refused("prompts.parquet", "no prompt of dream"):
        prompt.main(**given | {"methods": ["dream"]})


@pytest.mark.parametrize("model", ["tiny-llama", pytest.param("tiny-flan-t5", marks=pytest.mark.nightly)])
def test_a_killed_job_goes_on_where_it_was(entries, tmp_path, model):
    path = tmp_path / "prompts.parquet"
    write_prompts(path, 300)

    def make(folder):
        return arguments(entries, folder, path, model)

    speed, facts, kept = jobs.resume("scripts.prompting.prompt", make, tmp_path, "answers.parquet", (2, 9))
    assert 0 < speed["new_tokens"] <= facts["new_tokens"] - kept


def test_finished_parts_of_other_settings_are_thrown_away(entries, tmp_path, monkeypatch):
    write_prompts(tmp_path / "prompts.parquet", 12)
    removed = []
    monkeypatch.setattr(Parts, "remove", lambda self: removed.append(self.folder))
    given = arguments(entries, tmp_path, tmp_path / "prompts.parquet")
    prompt.main(**given)
    assert len(removed) == 1
    asked, original = [], Generator.run
    monkeypatch.setattr(Generator, "run", lambda self, batch: asked.extend(batch.work) or original(self, batch))
    prompt.main(**given)
    assert not asked
    prompt.main(**given | {"new_tokens": NEW | {"answer": 4}})
    assert len(asked) == 12 + 4


def test_shards_put_together_are_the_whole(entries, tmp_path):
    write_prompts(tmp_path / "prompts.parquet", 23)
    prompt.main(**arguments(entries, tmp_path, tmp_path / "prompts.parquet"))
    paths = []
    for shard in (1, 2, 3):
        paths.append(str(tmp_path / f"{shard}of3.parquet"))
        changed = {"answers": paths[-1], "shard": shard, "shards": 3}
        prompt.main(**arguments(entries, tmp_path, tmp_path / "prompts.parquet", **changed))
    merge_answers.main(shards=paths, answers=str(tmp_path / "merged.parquet"))
    whole, merged = (files.read_parquet(tmp_path / f"{name}.parquet") for name in ("answers", "merged"))
    pd.testing.assert_frame_equal(whole, merged)
    facts = files.parquet_metadata(tmp_path / "merged.parquet")
    assert facts["prompts"] == 23
    assert facts["new_tokens"] == files.parquet_metadata(tmp_path / "answers.parquet")["new_tokens"]
    with refused("3of3.parquet", "is part 3 of 3", "part 2 of 3 was expected"):
        merge_answers.main(shards=[paths[0], paths[2], paths[1]], answers=str(tmp_path / "merged.parquet"))


@pytest.mark.parametrize("follow_up", [None, FOLLOW_UP])
def test_a_prompt_that_is_too_long_ends_the_job_before_it_starts(entries, tmp_path, monkeypatch, follow_up):
    table = write_prompts(tmp_path / "prompts.parquet", 12)
    table.loc[11, ["text", "follow_up"]] = ["word " * 300, follow_up]
    files.write_parquet(tmp_path / "prompts.parquet", table)
    monkeypatch.setattr(prompt, "WINDOW", 5)
    monkeypatch.setattr(Generator, "continue_all", lambda *_: pytest.fail("a prompt was run"))
    with refused("the model takes 256", "never truncated"):
        prompt.main(**arguments(entries, tmp_path, tmp_path / "prompts.parquet"))
