"""Tables of prompts and prompted models; their cells are golden, but for chains of thought and several models."""

import pandas as pd

from scripts.core import files
from scripts.ruff import prompt_tables
from tests.conftest import ROOT
from tests.refusals import refused

TEMPLATES = {
    "prompt_templates": str(ROOT / "templates/ruff/prompts.tsv"),
    "chain_templates": str(ROOT / "templates/ruff/chain_of_thought.tsv"),
}


def test_examples_of_prompts_show_what_is_put_around_them(tmp_path):
    sample = {"case": ["nominative", "possessive"], "text": ["No ___.", "The cook lost ___ hat & coat."]}
    files.write_parquet(tmp_path / "sample", pd.DataFrame(sample | {"options": [["he", "xe"], ["his", "xyr"]]}))
    models, answers = {name: {"label": name.upper()} for name in "abc"}, []
    for name, wrapped in (("a", "[INST] {prompt} [/INST]"), ("b", "{prompt}"), ("c", "{prompt}")):
        answers.append(str(tmp_path / f"{name}.parquet"))
        files.write_parquet(answers[-1], pd.DataFrame({"x": [1]}), {"wrapped": wrapped})

    def made(table, blank):
        paths = {name: str(tmp_path / name) for name in ("sample", "tex", "csv")}
        prompt_tables.prompt_table(
            **TEMPLATES, **paths, table=table, answers=answers, models=models, kinds=["open", "options"],
            methods=["kojima", "zhou"], blank=blank,
        )  # fmt: skip
        return files.read_csv(paths["csv"])

    text = "Fill in the blank with the appropriate pronoun.\n\nThe cook lost _______ hat & coat."
    text += "\nOPTIONS:\n- his\n- xyr"
    read = made("prompt_examples", "paper").to_numpy().tolist()
    assert read == [["A", f"[INST] {text} [/INST]"], ["B, C", text]]
    tex = (tmp_path / "tex").read_text(encoding="utf-8")
    assert r"hat \& coat.\newline{}OPTIONS:\newline{}- his" in tex
    cells = made("chain_examples", "code")
    assert cells.Method.tolist() == ["Kojima", "Kojima", "Zhou", "Zhou"]
    assert cells.Prompt[1].endswith("step by step. [chain of thought]\nTherefore, the correct pronoun is")
    with refused("prompts.tsv", "'8'", "keep it"):
        prompt_tables.fill_example({}, "8", pd.DataFrame(), "code")
