"""Measurements of prompting: both ways answer alike."""

import pytest

from scripts.core import files
from scripts.core.generation.generate import Generator
from scripts.prompting import bench_prompting
from tests import zoo as builder
from tests.prompting.test_prompt import write_prompts


@pytest.fixture
def entry(entries):
    return entries["tiny-llama"]


def test_the_table_has_every_engine_at_every_size(entry, tmp_path):
    rows = write_prompts(tmp_path / "prompts.parquet", 9)
    files.write_parquet(tmp_path / "prompts.parquet", rows.assign(instance_id=rows.text_id))
    bench_prompting.main(
        prompts=str(tmp_path / "prompts.parquet"), table=str(tmp_path / "table.csv"), model="tiny-llama", entry=entry,
        instances=4, new_tokens=5, date="2024-07-26", sizes=[1, 3], rounds=2,
    )  # fmt: skip
    table = files.read_csv(tmp_path / "table.csv")
    assert sorted(zip(table.engine, table.batch, strict=True)) == [
        (engine, size) for engine in ("this project", "transformers generate") for size in (1, 3)
    ]  # fmt: skip
    assert (table.prompts == 4).all() and (table.tokens_per_second > 0).all()
    assert table.new_tokens.nunique() == 1


@pytest.mark.parametrize("size", [1, 2, 3])
def test_transformers_answers_as_this_project_does(entry, tmp_path, size):
    network, tokenizer = builder.load("tiny-llama", entry, device="cpu")
    texts = write_prompts(tmp_path / "prompts.parquet", 9).text.tolist()
    generator = Generator(network, tokenizer, 5, tokens_per_batch=size * 60)
    found = [answer.tokens for answer in generator.answer(texts)]
    assert found == bench_prompting.plain_answers(generator, generator.tokenize(texts), size)
