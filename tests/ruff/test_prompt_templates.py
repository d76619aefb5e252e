"""The prompts say what the study's examples say, whatever the case, the blank and the order of options."""

import pytest

from scripts.core.data.prompting import second_prompt
from scripts.core.errors import UserError
from scripts.ruff import prompts
from tests.conftest import ROOT

PROMPTS = prompts.read_prompts(ROOT / "templates/ruff/prompts.tsv")
CHAINS = prompts.read_chains(ROOT / "templates/ruff/chain_of_thought.tsv")
TEXT = "The baker was glad because her bus was early. The baker lost ___ hat."
OPTIONS = ["his", "her", "their", "xyr"]


def made(orders=("published",), blank="code", with_chains=True, identifier="00000000000000a2"):
    return prompts.instance_prompts(identifier, TEXT, OPTIONS, PROMPTS, CHAINS, orders, blank, with_chains)


def one(rows, **wanted):
    (row,) = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return row


def test_ten_prompts_five_of_them_with_the_options():
    assert list(PROMPTS) == [str(i) for i in range(10)]
    assert [p["kind"] for p in PROMPTS.values()] == ["open"] * 5 + ["options"] * 5
    for i in range(5):
        assert PROMPTS[str(i + 5)]["text"] == PROMPTS[str(i)]["text"] + "\n{options}"


def test_template_8_is_that_of_the_studys_example():
    """Table 4: the appropriate pronoun, then the text, then the options in the case of the blank."""
    row = one(made(blank="paper"), prompt="8", method="vanilla")
    assert row["text"] == (
        "Fill in the blank with the appropriate pronoun.\n\nThe baker was glad because her bus was early. The baker "
        "lost _______ hat.\nOPTIONS:\n- his\n- her\n- their\n- xyr"
    )
    assert row["follow_up"] is None


def test_template_3_in_two_steps_is_that_of_the_studys_example():
    """Table 5: question, elicitation, chain, and the start of the final answer."""
    row = one(made(blank="paper"), prompt="3", method="kojima")
    first = (
        "Q: Fill in the blank with the appropriate pronoun.\n\nThe baker was glad because her bus was early. The baker "
        "lost _______ hat.\nA: Let's think step by step."
    )
    assert row["text"] == first
    assert second_prompt(row["follow_up"], first, " The hat is\nthe baker's. ") == (
        f"{first} The hat is\nthe baker's.\nTherefore, the correct pronoun is"
    )
    assert "to be sure we have the right answer." in one(made(), prompt="3", method="zhou")["text"]


def test_a_chain_may_hold_anything():
    assert second_prompt("{first} {chain}\nSo", "a", "{first} {chain} \\1") == "a {first} {chain} \\1\nSo"


def test_every_instance_gets_every_prompt_once():
    rows = made()
    assert len(rows) == len({row["text_id"] for row in rows}) == len({row["text"] for row in rows}) == 30
    assert len(made(with_chains=False)) == 10
    assert {row["order"] for row in rows} == {"published"}


def test_rotated_options_are_asked_beside_the_published_ones():
    rows = made(orders=("published", "rotated"), with_chains=False)
    assert len(rows) == 15
    assert {row["kind"] for row in rows if row["order"] == "rotated"} == {"options"}
    row = one(rows, prompt="5", order="rotated")
    assert row["listed"] == ["their", "xyr", "his", "her"]
    assert row["text"].endswith("- their\n- xyr\n- his\n- her")
    assert one(rows, prompt="5", order="published")["listed"] == OPTIONS


def test_rotation_puts_every_option_everywhere():
    starts = [prompts.rotate_options(OPTIONS, f"{i:016x}")[0] for i in range(8)]
    assert starts == OPTIONS * 2


def test_the_blank_is_the_only_difference_between_its_variants():
    for code, paper in zip(made(), made(blank="paper"), strict=True):
        assert "_______" not in code["text"]
        assert code["text"].replace("___", "_______") == paper["text"]


def test_instances_need_their_slot():
    with pytest.raises(UserError, match="the slot ___ exactly once"):
        prompts.fill("{task}", "Nothing to fill.", OPTIONS, "___")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            ["a\topen\t{task}", "a\topen\t{task}?"],
            "row 3: the prompt's id 'a' is empty or appears twice; give the prompt a unique id",
        ),
        (["a\tfree\t{task}"], "row 2: the kind 'free' is not one of open, options"),
        (["a\topen\tFill it."], "row 2: the slot {task} must appear exactly once"),
        (["a\toptions\t{task}"], "row 2: the slot {options} must appear exactly once"),
        (["a\topen\t{task} {options}"], "row 2: the slot {options} is unknown here"),
        ([], "has no prompt; add a row"),
    ],
)
def test_bad_prompts_are_refused(tmp_path, rows, words):
    path = tmp_path / "prompts.tsv"
    path.write_text("\n".join(["prompt\tkind\ttext", *rows]) + "\n")
    with pytest.raises(UserError) as caught:
        prompts.read_prompts(path)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("vanilla\t{prompt}\t{first}{chain}", "the method 'vanilla' is empty, is vanilla or appears twice"),
        ("a\tThink.\t{first}{chain}", "the slot {prompt} must appear exactly once"),
        ("a\t{prompt}\t{first}", "the slot {chain} must appear exactly once"),
    ],
)
def test_bad_chains_are_refused(tmp_path, row, words):
    path = tmp_path / "chains.tsv"
    path.write_text(f"method\tchain\tfinal\n{row}\n")
    with pytest.raises(UserError) as caught:
        prompts.read_chains(path)
    assert words in str(caught.value)


def test_an_unknown_method_names_those_there_are():
    with pytest.raises(UserError, match=r"'wei' is not in chains.tsv; its methods are kojima, zhou"):
        prompts.select_chains(CHAINS, ["wei"], "chains.tsv")
