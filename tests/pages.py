"""The commands and files that README, CONTRIBUTING and the pages of docs/ print.

The info string of a fenced block says what becomes of it: ````` ```bash run `````: each line is typed and must succeed;
`dry`: what Snakemake would do; `machine`: takes long, changes the machine or both, so that make says what it would do
and programs whether they know the arguments; `keys` and `server`: needs a key pair or a server, see ``ELSEWHERE``;
`yaml file=NAME`: a file that the commands of the page use; `python run`: typed into Python. `text` is no command.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "CONTRIBUTING.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
KINDS = {
    "bash run", "bash dry", "bash machine", "bash keys", "bash server", "python run", "text",
}  # fmt: skip
FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]+)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block: its page, the line where its text begins, its info string and its text."""

    page: str
    line: int
    info: str
    text: str

    @property
    def file(self):
        """The file that the block is the content of, or None."""
        match = re.fullmatch(r"yaml file=(\S+)", self.info)
        return match.group(1) if match else None

    @property
    def commands(self):
        """The lines of a shell block without comments, each with the line of the page."""
        return [
            (number, re.sub(r"\s+#\s.*$", "", line))
            for number, line in enumerate(self.text.splitlines(), self.line)
            if self.info.startswith("bash") and line.strip() and not line.startswith("#")
        ]


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page, text=None):
    """Return the fenced blocks of a page."""
    text = read(page) if text is None else text
    found = []
    for match in FENCE.finditer(text):
        body = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
        line = text.count("\n", 0, match.start("body")) + 1
        found.append(Block(page, line, match["info"].strip(), body))
    return found


def prose(page, text=None):
    """Return a page without its fenced blocks."""
    return FENCE.sub("", read(page) if text is None else text)


def inline(page, text=None):
    """Return the commands in the prose of a page: what stands in backquotes and begins with a program."""
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", prose(page, text))
    programs = ("snakemake ", "make ", "python ", "pytest", "rm ", "hf ", "bash ", "pip", "git ", "source ")
    return [span for span in dict.fromkeys(spans) if span.startswith(programs)]
