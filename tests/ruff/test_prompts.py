"""The prompts say what the study's examples say, whatever the case and the blank."""

import pytest

from scripts.core.data.prompting import second_prompt
from scripts.ruff import prompts
from tests.conftest import ROOT
from tests.refusals import refused

PROMPTS = prompts.read_prompts(ROOT / "templates/ruff/prompts.tsv")
CHAINS = prompts.read_chains(ROOT / "templates/ruff/chain_of_thought.tsv")
TEXT = "The baker was glad because her bus was early. The baker lost ___ hat."
OPTIONS = ["his", "her", "their", "xyr"]


def made(blank="code", with_chains=True):
    return prompts.instance_prompts("00000000000000a2", TEXT, OPTIONS, PROMPTS, CHAINS, blank, with_chains)


def one(rows, **wanted):
    (row,) = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return row


def test_the_ten_prompts_are_those_of_the_studys_examples():
    assert list(PROMPTS) == [str(i) for i in range(10)]
    assert [prompt["kind"] for prompt in PROMPTS.values()] == ["open"] * 5 + ["options"] * 5
    for i in range(5):
        assert PROMPTS[str(i + 5)]["text"] == PROMPTS[str(i)]["text"] + "\n{options}"
    # Table 4: the appropriate pronoun, then the text, then the options in the case of the blank.
    filled = "Fill in the blank with the appropriate pronoun.\n\nThe baker was glad because her bus was early. The "
    filled += "baker lost _______ hat."
    row = one(made(blank="paper"), prompt="8", method="vanilla")
    assert row["text"] == filled + "\nOPTIONS:\n- his\n- her\n- their\n- xyr" and row["follow_up"] is None
    # Table 5: question, elicitation, chain, and the start of the final answer.
    row = one(made(blank="paper"), prompt="3", method="kojima")
    first = f"Q: {filled}\nA: Let's think step by step."
    assert row["text"] == first
    assert second_prompt(row["follow_up"], first, " The hat is\nthe baker's. ") == (
        f"{first} The hat is\nthe baker's.\nTherefore, the correct pronoun is"
    )
    assert "to be sure we have the right answer." in one(made(), prompt="3", method="zhou")["text"]
    assert second_prompt("{first} {chain}\nSo", "a", "{first} {chain} \\1") == "a {first} {chain} \\1\nSo"


def test_every_instance_gets_every_prompt_once():
    rows = made()
    assert len(rows) == len({row["text_id"] for row in rows}) == len({row["text"] for row in rows}) == 30
    assert [row["text_id"] for row in made(with_chains=False)] == [
        f"00000000000000a2-vanilla-{i}-published" for i in range(10)
    ]
    assert [row["listed"] for row in rows] == [[]] * 15 + [OPTIONS] * 15
    for code, paper in zip(rows, made(blank="paper"), strict=True):
        assert "_______" not in code["text"]
        assert code["text"].replace("___", "_______") == paper["text"]


PROMPT, CHAIN = "prompt\tkind\ttext", "method\tchain\tfinal"
BROKEN = {
    "twice": ([PROMPT, "a\topen\t{task}", "a\topen\t{task}?"], ["row 3", "'a'", "row 2"]),
    "kind": ([PROMPT, "a\tfree\t{task}"], ["row 2", "'free'", "open, options"]),
    "no-task": ([PROMPT, "a\topen\tFill it."], ["row 2", "{task}", "exactly once"]),
    "no-options": ([PROMPT, "a\toptions\t{task}"], ["row 2", "{options}", "exactly once"]),
    "strange-slot": ([PROMPT, "a\topen\t{task} {options}"], ["row 2", "{options}", "unknown"]),
    "no-prompt": ([PROMPT], ["no row", "add"]),
    "vanilla": ([CHAIN, "vanilla\t{prompt}\t{first}{chain}"], ["row 2", "'vanilla'", "rename"]),
    "no-prompt-in-chain": ([CHAIN, "a\tThink.\t{first}{chain}"], ["row 2", "{prompt}", "exactly once"]),
    "no-chain-in-answer": ([CHAIN, "a\t{prompt}\t{first}"], ["row 2", "{chain}", "exactly once"]),
}


@pytest.mark.parametrize(("lines", "named"), BROKEN.values(), ids=BROKEN)
def test_broken_templates_are_named(tmp_path, lines, named):
    path = tmp_path / "templates.tsv"
    path.write_text("\n".join(lines) + "\n")
    with refused(path, *named):
        (prompts.read_prompts if lines[0] == PROMPT else prompts.read_chains)(path)


def test_what_cannot_be_filled_or_found_is_refused():
    with refused("___", "exactly once", "Nothing to fill."):
        prompts.fill_prompt("{task}", "Nothing to fill.", OPTIONS, "___")
    with refused("'wei'", "chains.tsv", "kojima, zhou"):
        prompts.select_chains(CHAINS, ["wei"], "chains.tsv")
