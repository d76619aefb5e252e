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
GENERATED = re.compile(r"<!-- (\w+).*? -->.*?<!-- end.*? -->", re.DOTALL)
"""Tables that the tests write: findings in the studies' words."""
PATTERN = re.compile("|".join(rf"\b(?:{words})\b" for words in BANNED), re.IGNORECASE)
MESSAGES = ("UserError", "print")
"""Calls whose texts users read."""


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
        (page, word) for page in pages.PAGES for word in found(pages.prose(page))
    ] + [
        (f"{path}:{line}", word)
        for path in (ROOT / "scripts").rglob("*.py") for line, text in messages(path) for word in found(text)
    ]  # fmt: skip
    assert not words, f"{words}; write instead: {BANNED}"


def test_the_words_are_seen():
    """The check itself."""
    assert found("In one line, nobody picks 5 % of theirs.") == ["In one line", "nobody", "picks", "theirs", "5 %"]
    assert found("`beside` is in [code](claims.md), 5% of it") == []
