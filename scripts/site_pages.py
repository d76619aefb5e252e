"""Build the documentation site into .site/html, without network once its environment exists.

    python -m scripts.site_pages

The pages of docs/, the README files of the repository and generated reference pages are written to .site/pages;
MkDocs then builds the site in strict mode (mkdocs.yml). The reference pages come from the configuration's schemas, from
the rules' docstrings, from the tables in tests/golden and from the instances of the default run, which are made first.
"""

import io
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import yaml

from scripts.core import config, files
from scripts.core.errors import UserError
from scripts.core.workflow import environments

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ".site"
STUDIES = ("ruff", "counter_gap", "misgendered", "underspecification", "winopron")
SOURCES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "templates/README.md": "templates.md",
    "paper/README.md": "sections.md",
    "paper/published/README.md": "published.md",
    "config/weights/README.md": "weights.md",
    **{f"scripts/{study}/README.md": f"row_{study}.md" for study in STUDIES},
}
"""Files outside of docs/ that are pages of the site, to the names of these pages."""
PACKED = "tests/golden/default.parquet"
"""Every CSV of the default run, as the tests compare it."""
OUTPUTS = "tests/golden/models"
"""Outputs of the default run's models, as the tests compare results with."""
LINK = re.compile(r'(\]\(|src=")(?!https?://|#|mailto:)([^)"\s#]+)')
FENCE = re.compile(r"^( *)```(\S+)(?: (?!title=)([^\n`]*))?$", re.MULTILINE)
LONGEST = 24
"""Characters of an example in the data dictionary; longer values are sentences."""


def site_page(text: str, source: str, pages: dict[str, str], assets: set[str]) -> str:
    """Return a Markdown file of the repository as a page of the site.

    Info strings become those of MkDocs, nested blocks get the four spaces that Python's Markdown wants, links point to
    pages of the site, and the line of links under the title goes, since the site has its own navigation.

    Args:
        text: The file's content.
        source: Its path in the repository.
        pages: Paths in the repository to names of pages.
        assets: Receives the linked files that are not pages.
    """

    def target(match: re.Match) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        if path in pages:
            return match[1] + pages[path]
        assets.add(path)
        return f"{match[1]}{path.removeprefix('docs/')}"

    text = re.sub(r"\A(# .+\n)\n\[[^\n]+\n", r"\1", text)
    parts = re.split(r"(^ *```.*?^ *```$)", indent_blocks(text), flags=re.MULTILINE | re.DOTALL)
    return "".join(
        FENCE.sub(_info, part) if number % 2 else LINK.sub(target, part) for number, part in enumerate(parts)
    )


def _info(match: re.Match) -> str:
    title = re.fullmatch(r"file=(\S+)", match[3] or "")
    return f"{match[1]}```{match[2]}" + (f' title="{title[1]}"' if title else "")


def indent_blocks(text: str) -> str:
    """Return Markdown whose list items hold blocks with an indent of four spaces.

    Examples:
        >>> indent_blocks("1. Do\\n\\n   this\\n")
        '1. Do\\n\\n    this\\n'
    """
    width, lines, fenced = 0, [], False
    for line in text.splitlines(keepends=True):
        marker = re.match(r"(?:\d+\.|[-*]) +", line)
        if not line.startswith(" ") and line.strip():
            width = len(marker[0]) if marker and not fenced else 0
        if line.lstrip().startswith("```"):
            fenced = not fenced
        inside = width and line.startswith(" " * width)
        lines.append(" " * (4 - width) + line if inside else line)
    return "".join(lines)


def comments(text: str) -> dict[str, str]:
    """Return the comments of a configuration file by the key that they precede or follow (``scoring.engine``)."""
    found, above, place = {}, [], []
    for line in text.splitlines():
        note = re.match(r" *# ?(.*)", line)
        key = re.match(r"( *)([\w-]+):(.*)", line)
        if note:
            above.append(note[1])
        elif key:
            place = [*[entry for entry in place if entry[0] < len(key[1])], (len(key[1]), key[2])]
            after = re.search(r"\s#\s(.*)", key[3])
            words = " ".join([*above, *([after[1]] if after else [])])
            if words:
                found[".".join(name for _, name in place)] = words
            above = []
        else:
            above = []
    return found


def inline_definitions(schema: Any, root: dict) -> Any:
    """Return a schema in which definitions stand in place of the references to them."""
    if isinstance(schema, list):
        return [inline_definitions(entry, root) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        found: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[int(step)] if isinstance(found, list) else found[step]
        return inline_definitions(found | {key: value for key, value in schema.items() if key != "$ref"}, root)
    return {key: inline_definitions(value, root) for key, value in schema.items() if key != "$defs"}


def allowed_values(schema: dict) -> str:
    """Return the values that a schema takes, in words."""
    if "const" in schema:
        return f"`{_plain(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{_plain(value)}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(allowed_values(choice) for choice in schema[key]))
    kinds = schema.get("type", "any")
    names = [{"null": "`null`"}.get(kind, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)]
    words = " or ".join(names)
    if "array" in words:
        words = words.replace("array", f"list of {allowed_values(schema.get('items', {}))}")
    limits = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[key]}" for key, sign in limits.items() if key in schema]
    return " ".join([words, ", ".join(bounds)]).strip()


def keys(schema: dict, defaults: object, notes: dict[str, str], prefix: str = "") -> list[tuple[str, str, str, str]]:
    """Return a row per key below a schema: its path, the values that it takes, the default, and what it is."""
    rows = []
    children = dict(schema.get("properties", {}))
    if isinstance(schema.get("additionalProperties"), dict):
        children["NAME"] = schema["additionalProperties"]
    for name, child in children.items():
        path = f"{prefix}.{name}" if prefix else name
        value = defaults.get(name) if isinstance(defaults, dict) else None
        told = " ".join(str(child.get("description", "")).split()) or notes.get(path, "")
        below = keys(child, value, notes, path) if isinstance(child, dict) else []
        if not below or told:
            shown = "" if below or not isinstance(defaults, dict) or name not in defaults else f"`{_plain(value)}`"
            rows.append((path, "section" if below else allowed_values(child), shown, told))
        rows += below
    return rows


def _plain(value: object) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True).splitlines()[0]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown."""
    cells = [[*head], ["---"] * len([*head]), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n" for row in cells)


def configuration_page(root: Path) -> str:
    """Return the page with every key of ``config.yaml``."""
    schema = config.configuration_schema(root / "config/schemas")
    schema["properties"] = {
        name: inline_definitions(found, found if "$defs" in found else schema)
        for name, found in schema["properties"].items()
    }
    notes = comments((root / "config.yaml").read_text(encoding="utf-8"))
    rows = keys(schema, config.load_yaml(root / "config.yaml"), notes)
    sections: dict[str, list] = {}
    for path, values, default, told in rows:
        head = path.partition(".")[0]
        nested_key = "." in path or values == "section"
        sections.setdefault(head if nested_key else "Top level", []).append((f"`{path}`", values, default, told))
    body = "".join(
        f"\n## {head}\n\n{table(('key', 'values', 'default', 'meaning'), found)}" for head, found in sections.items()
    )
    return (
        "# Configuration\n\nEvery key of `config.yaml` and of an overlay. A dot separates levels: `scoring.engine` is "
        "the key `engine` below `scoring`. Unknown keys are an error.\n" + body
    )


def explained_keys(text: str) -> dict[str, str]:
    """Return what the head of the registry explains, by key.

    Examples:
        >>> explained_keys("# label, size  as printed\\n#              in the papers\\n")
        {'label': 'as printed in the papers', 'size': 'as printed in the papers'}
    """
    found: dict[str, str] = {}
    for match in re.finditer(r"^# (\w[\w, ]*?) {2,}(\S.*(?:\n# {3,}\S.*)*)", text, flags=re.MULTILINE):
        words = " ".join(re.sub(r"^# +", "", match[2], flags=re.MULTILINE).split())
        found |= dict.fromkeys(match[1].split(", "), words)
    return found


def registry_page(root: Path) -> str:
    """Return the page with every key of a registry entry."""
    schema = config.load_yaml(root / "config/schemas/models.schema.yaml")
    head, _, systems = (root / "config/models.yaml").read_text(encoding="utf-8").partition("\nmodels:")
    notes = explained_keys(head)
    body = ""
    for kind, own in (("models", {}), ("systems", explained_keys(systems))):
        entry = inline_definitions(schema["properties"][kind]["additionalProperties"], schema)
        known = notes | own
        rows = [(f"`{path}`", values, known.get(path) or told) for path, values, _, told in keys(entry, None, known)]
        body += f"\n## {kind}\n\n{table(('key', 'values', 'meaning'), rows)}"
    return f"# Model registry\n\nEvery key of an entry in `config/models.yaml` or in a registry of your own.\n{body}"


def targets_page(listed: str) -> str:
    """Return the page with the targets of the workflow.

    Args:
        listed: What the target ``help`` prints.
    """
    found = re.findall(r"^(\w+) {2,}(\S.*)$", listed, flags=re.MULTILINE)
    rows = [(f"`{name}`", told) for name, told in found]
    return (
        "# Targets\n\n`snakemake --cores 2 TARGET` makes one of these, `snakemake --cores 1 help` lists them. Every "
        "file below `results/` is a target too.\n\n" + table(("target", "result"), rows)
    )


def dictionary_page(root: Path, run: Path, meanings: dict[str, str]) -> str:
    """Return the data dictionary: every CSV and Parquet file of the default run with its columns.

    Args:
        root: The repository.
        run: The folder of the default run; its ``results/`` hold the instances.
        meanings: Columns to what they hold (``docs/columns.yaml``).

    Raises:
        UserError: If ``meanings`` names a column that no file has.
    """
    packed = pd.read_parquet(root / PACKED)
    tables = {
        path: pd.read_csv(io.StringIO(text)) for path, text in zip(packed.file, packed.text, strict=True)
        if path.endswith(".csv")
    }  # fmt: skip
    parquet = {
        path.relative_to(folder).as_posix(): pq.read_schema(path)
        for folder in (run, root / OUTPUTS) for path in sorted(folder.glob("results/*/*/**/*.parquet"))
        if folder != run or "/instances/" in path.as_posix()
    }  # fmt: skip
    known: dict[str, dict] = {}
    for frame in tables.values():
        for name in frame:
            entry = known.setdefault(str(name), {"files": 0, "type": _kind(frame[name]), "example": ""})
            entry["files"] += 1
            example = next((text for text in map(_example, frame[name].dropna()) if len(text) <= LONGEST), "")
            entry["example"] = entry["example"] or example
    unknown = meanings.keys() - known.keys() - {name for schema in parquet.values() for name in schema.names}
    if unknown:
        raise UserError(f"docs/columns.yaml: no file has the column '{min(unknown)}'; remove it or correct its name")
    columns = [
        (f"`{name}`", entry["type"], f"`{entry['example']}`" if entry["example"] else "", meanings.get(name, ""))
        for name, entry in sorted(known.items()) if name in meanings
    ]  # fmt: skip
    shown: dict[tuple, list] = {}
    for path, schema in parquet.items():
        fields = tuple(zip(schema.names, map(str, schema.types), strict=True))
        shown.setdefault((path.split("/")[1], path.split("/")[2], fields), []).append(path.removeprefix("results/"))
    body = ""
    for (*_, fields), paths in sorted(shown.items()):
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        rows = [(f"`{name}`", kind.replace("large_", ""), meanings.get(name, "")) for name, kind in fields]
        body += f"\n### `{paths[0]}`{more}\n\n{table(('column', 'type', 'meaning'), rows)}"
    listed = ""
    for head in dict.fromkeys(path.split("/")[1] for path in tables):
        rows = [
            (f"`{path.removeprefix('results/')}`", len(frame), ", ".join(f"`{name}`" for name in frame))
            for path, frame in tables.items()
            if path.split("/")[1] == head
        ]
        listed += f"\n### {head}\n\n{table(('file', 'rows', 'columns'), rows)}"
    shared = table(("column", "type", "example", "meaning"), columns)
    return (
        "# Data dictionary\n\nThe files of the default run. Instances, scores, answers and token distributions are "
        "Parquet; analyses, tables and the data of figures are CSV. Paths are below `results/`. For predictions, see "
        f"[single instances](instances.md).\n\n## Columns of CSV files\n\nColumns that several files share.\n\n{shared}"
        f"\n## Parquet files\n{body}\n## CSV files\n{listed}"
    )


def _example(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _kind(column: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(column):
        return "true or false"
    if pd.api.types.is_integer_dtype(column):
        return "integer"
    return "number" if pd.api.types.is_numeric_dtype(column) else "text"


def write_pages(root: Path, run: Path, folder: Path, listed: str) -> None:
    """Write all pages of the site and the files that they link.

    Args:
        root: The repository.
        run: The folder of the default run, which has its instances.
        folder: Where pages go; emptied first.
        listed: What the target ``help`` prints.
    """
    shutil.rmtree(folder, ignore_errors=True)
    sources = SOURCES | {f"docs/{path.name}": path.name for path in sorted((root / "docs").glob("*.md"))}
    assets = {"docs/site.css"}
    generated = {
        "configuration.md": configuration_page(root),
        "registry.md": registry_page(root),
        "targets.md": targets_page(listed),
        "dictionary.md": dictionary_page(root, run, config.load_yaml(root / "docs/columns.yaml")),
    }
    for source, page in sources.items():
        text = (root / source).read_text(encoding="utf-8")
        files.write_text(folder / page, site_page(text, source, sources, assets))
    for page, text in generated.items():
        files.write_text(folder / page, text)
    for asset in sorted(assets):
        place = folder / asset.removeprefix("docs/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / asset, place)


def main() -> int:
    """Write the pages and build the site; returns the exit status."""
    snakemake = [sys.executable, "-m", "snakemake", "--cores", str(os.cpu_count() or 1)]
    try:
        subprocess.run([*snakemake, "instances"], cwd=ROOT, check=True)
        listed = subprocess.run([*snakemake, "help"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        write_pages(ROOT, ROOT, ROOT / FOLDER / "pages", listed)
        python = environments.prepare(ROOT / "envs/docs.lock", ROOT / ".venv-docs")
    except subprocess.CalledProcessError as error:
        return error.returncode
    except UserError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [python, "-m", "mkdocs", "build", "--strict", "--quiet"], cwd=ROOT, env=environment, check=False
    )
    if done.returncode == 0:
        print(f"The site: {FOLDER}/html/index.html")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
