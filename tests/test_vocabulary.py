"""Words that readers of this project should not meet: its makers' private words and translated idiom."""

import ast
import re
from pathlib import Path

from tests import pages

ROOT = Path(__file__).parents[1]
BANNED = {
    r"wings?|rooms?|floors?|machinery|traps?|spoil(?:s|t|ed)?": "study, package, shared stage, pipeline, pitfall",
    r"claims?": "finding",
    r"theirs|picks?|picked": "published; prediction",
    r"beside|whoever|nobody": "next to, in addition to; anyone, no one",
    r"in one line": "one-line error",
    r"of (?:its|their) own": "its own, separate, custom",
    r"comes to|is that of|are those of": "the noun itself",
    r"(?:stands?|lies?) (?:in|at|beside|behind|here|there)": "is",
    r"ways? (?:of|in which)": "method, direction",
    r"other ones": "the noun itself",
}
"""Patterns of words to what is better."""
KEPT = {}
"""Words that a page keeps, with the reason; ten at most."""
GENERATED = re.compile(r"<!-- (\w+).*? -->.*?<!-- end.*? -->", re.DOTALL)
"""Tables that the tests write: findings in the studies' words."""
PATTERN = re.compile("|".join(rf"\b(?:{words})\b" for words in BANNED), re.IGNORECASE)
MESSAGES = ("UserError", "print")
"""Calls whose texts users read."""
UNCLEAR_NAMES = {
    "told", "beside", "behind", "named", "whole", "patient", "spoken", "took", "telling", "NOTHING", "named_once",
    "ahead", "settled", "between", "Lacking", "Claim", "of_one_model", "Asked", "Places", "Totals", "enough",
    "left_out", "said", "disputed", "doubt", "unowned", "prunable", "makable", "carried", "exchanged", "offered",
    "guesser", "theirs", "refuse", "root", "run_of_all", "masses", "WAYS", "room_group", "READ_BY_MODELS", "Resolved",
    "Scored", "Prompted", "Decided", "Explored", "Paired", "every", "chosen", "decided", "counted", "drawn", "shown",
    "opened", "planned", "described", "judged", "missing", "unusable", "obstacle",
}  # fmt: skip
"""Names that say nothing about what a public function, class or constant does; write a verb and a noun, or a noun."""


def found(text: str) -> list[str]:
    """Return the words to avoid in a text, and blanks before a percent sign; code and addresses do not count."""
    plain = GENERATED.sub("", text)
    plain = re.sub(r"`[^`\n]*`|\]\([^)\n]*\)", " ", plain)
    return [*PATTERN.findall(plain), *re.findall(r"\d %", plain)]


def messages(path: Path) -> list[tuple[int, str]]:
    """Return the texts of a script's messages, each with its line."""
    calls = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MESSAGES
    ]
    return [
        (part.lineno, part.value)
        for call in calls
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value
    ]


def test_pages_and_messages_use_the_fields_words():
    words = [
        (page, word) for page in pages.PAGES for word in found(pages.prose(page)) if (page, word) not in KEPT
    ] + [
        (f"{path}:{line}", word)
        for path in (ROOT / "scripts").rglob("*.py") for line, text in messages(path) for word in found(text)
    ]  # fmt: skip
    assert not words, f"{words}; write instead: {BANNED}"


def public_names(path: Path) -> set[str]:
    """Return the names that a module, or the functions and constants that a file of rules, defines for others."""
    return set(
        re.findall(r"^(?:(?:async )?def |class )?(\w+)\b(?=\(|:| = )", path.read_text(encoding="utf-8"), re.MULTILINE)
    )


def test_public_names_say_what_they_are():
    paths = [*(ROOT / "scripts").rglob("*.py"), *(ROOT / "rules").glob("*.smk")]
    unclear = [(path, name) for path in paths for name in public_names(path) & UNCLEAR_NAMES]
    assert not unclear


def test_the_words_are_seen():
    """The check itself, and that few words are kept, each of which a page has."""
    assert found("In one line, nobody picks 5 % of theirs.") == ["In one line", "nobody", "picks", "theirs", "5 %"]
    assert found("`beside` is in [code](claims.md), 5% of it") == []
    assert len(KEPT) <= 10
    assert all(word in found(pages.prose(page)) for page, word in KEPT)
