"""A hook of MkDocs (mkdocs.yml): README files as pages, and reference pages from schemas, rules and the default run."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
import yaml
from mkdocs.structure.files import File, Files  # pyright: ignore[reportMissingImports]: its own environment

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ("ruff", "counter_gap", "misgendered", "underspecification", "winopron")
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "templates/README.md": "templates.md",
    "paper/README.md": "sections.md",
    "paper/published/README.md": "published.md",
    "config/weights/README.md": "weights.md",
    **{f"scripts/{study}/README.md": f"row_{study}.md" for study in STUDIES},
    **{f"docs/{path.name}": path.name for path in sorted((ROOT / "docs").glob("*.md"))},
}
"""Files of the repository to the pages that they are."""
GOLDEN, OUTPUTS = "tests/golden/default.parquet", "tests/golden/models/results"
"""Every CSV file of the default run, and what its models left, as the tests compare them."""
LONGEST = 24
"""Characters of an example in the data dictionary; longer values are sentences."""


def on_files(files: Files, config: Any) -> Files:
    """Put the pages of the repository and the generated ones in place of the folder's Markdown files."""
    assets: set[str] = set()
    texts = {source: (ROOT / source).read_text(encoding="utf-8") for source in PAGES}
    pages = {PAGES[source]: site_page(text, source, assets) for source, text in texts.items()}
    pages |= {"configuration.md": configuration_page(), "registry.md": registry_page(), "targets.md": targets_page()}
    pages["dictionary.md"] = dictionary_page(read_yaml("docs/columns.yaml"))
    for name, text in pages.items():
        if old := files.get_file_from_path(name):
            files.remove(old)
        files.append(File.generated(config, name, content=text))
    for path in sorted(assets):
        if not path.startswith("docs/"):
            files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def read_yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def site_page(text: str, source: str, assets: set[str]) -> str:
    """Return a Markdown file of the repository as a page: links to pages of the site, fences and indents of MkDocs.

    The line of links under the title goes, since the site has its own navigation. ``assets`` receives the linked files
    that are no pages.
    """

    def target(match: re.Match) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[2]))
        if path not in PAGES:
            assets.add(path)
        return match[1] + PAGES.get(path, path.removeprefix("docs/"))

    def info(match: re.Match) -> str:
        title = re.fullmatch(r"file=(\S+)", match[3] or "")
        return f"{match[1]}```{match[2]}" + (f' title="{title[1]}"' if title else "")

    text = re.sub(r"\A(# .+\n)\n\[[^\n]+\n", r"\1", text)
    parts = re.split(r"(^ *```.*?^ *```$)", indent_blocks(text), flags=re.MULTILINE | re.DOTALL)
    for n, part in enumerate(parts):
        if n % 2:
            parts[n] = re.sub(r"^( *)```(\S+)(?: ([^\n`]*))?$", info, part, count=1, flags=re.MULTILINE)
        else:
            # A bar in code, in a table: forges want it escaped, Python's Markdown does not.
            part = re.sub(r"`[^`\n]*`", lambda code: code[0].replace(r"\|", "|"), part)
            parts[n] = re.sub(r'(\]\(|src=")(?!https?://|#|mailto:)([^)"\s#]+)', target, part)
    return "".join(parts)


def indent_blocks(text: str) -> str:
    """Return Markdown whose list items hold blocks with the indent of four spaces that Python's Markdown wants."""
    width, lines, fenced = 0, [], False
    for line in text.splitlines(keepends=True):
        marker = re.match(r"(?:\d+\.|[-*]) +", line)
        if not line.startswith(" ") and line.strip():
            width = len(marker[0]) if marker and not fenced else 0
        if line.lstrip().startswith("```"):
            fenced = not fenced
        lines.append(" " * (4 - width) + line if width and line.startswith(" " * width) else line)
    return "".join(lines)


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    cells = [[*head], ["---"] * len([*head]), *rows]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n" for row in cells)


def as_code(value: object) -> str:
    return f"`{yaml.safe_dump(value, default_flow_style=True, width=10_000, allow_unicode=True).splitlines()[0]}`"


def key_comments(text: str) -> dict[str, str]:
    """Return the comments of a configuration file by the key that they precede or follow (``scoring.engine``)."""
    found, above, place = {}, [], []
    for line in text.splitlines():
        if note := re.match(r" *# ?(.*)", line):
            above.append(note[1])
            continue
        if key := re.match(r"( *)([\w-]+):(.*)", line):
            place = [*(entry for entry in place if entry[0] < len(key[1])), (len(key[1]), key[2])]
            after = re.search(r"\s#\s(.*)", key[3])
            if words := " ".join([*above, *([after[1]] if after else [])]):
                found[".".join(name for _, name in place)] = words
        above = []
    return found


def resolve(schema: dict, root: dict) -> dict:
    """Return a schema in which the definition stands in place of a reference to it."""
    while "$ref" in schema:
        found: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[int(step)] if isinstance(found, list) else found[step]
        schema = found | {key: value for key, value in schema.items() if key != "$ref"}
    return schema


def allowed_values(schema: dict, root: dict) -> str:
    """Return the values that a schema takes, in words."""
    schema = resolve(schema, root)
    if "const" in schema or "enum" in schema:
        return ", ".join(map(as_code, schema.get("enum", [schema.get("const")])))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(allowed_values(choice, root) for choice in schema[key]))
    kinds = schema.get("type", "any")
    words = " or ".join("`null`" if kind == "null" else kind for kind in ([kinds] if isinstance(kinds, str) else kinds))
    words = words.replace("array", f"list of {allowed_values(schema['items'], root)}" if "items" in schema else "list")
    limits = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[key]}" for key, sign in limits.items() if key in schema]
    return " ".join([words, ", ".join(bounds)]).strip()


def key_rows(
    schema: dict, root: dict, defaults: object, notes: dict[str, str], prefix: str = ""
) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each key below a schema: its path, the values that it takes, the default, and what it is."""
    schema = resolve(schema, root)
    children = dict(schema.get("properties", {}))
    if isinstance(schema.get("additionalProperties"), dict):
        children["NAME"] = schema["additionalProperties"]
    for name, child in children.items():
        path, child = f"{prefix}.{name}".removeprefix("."), resolve(child, root)
        value = defaults.get(name) if isinstance(defaults, dict) else None
        told = " ".join(str(child.get("description", "")).split()) or notes.get(path, "")
        below = list(key_rows(child, root, value, notes, path))
        if not below or told:
            default = "" if below or not isinstance(defaults, dict) or name not in defaults else as_code(value)
            yield path, "section" if below else allowed_values(child, root), default, told
        yield from below


def configuration_page() -> str:
    """Return the page with every key of ``config.yaml``."""
    notes, defaults = key_comments((ROOT / "config.yaml").read_text(encoding="utf-8")), read_yaml("config.yaml")
    schema = read_yaml("config/schemas/config.schema.yaml")
    rows = list(key_rows(schema, schema, defaults, notes))
    for path in sorted((ROOT / "config/schemas/studies").glob("*.schema.yaml")):
        name, schema = path.name.partition(".")[0], read_yaml(f"config/schemas/studies/{path.name}")
        rows += key_rows(schema, schema, defaults.get(name), notes, name)
    sections: dict[str, list] = {}
    for path, values, *rest in rows:
        head = path.partition(".")[0] if "." in path or values == "section" else "Top level"
        sections.setdefault(head, []).append((f"`{path}`", values, *rest))
    head = ("key", "values", "default", "meaning")
    body = "".join(f"\n## {name}\n\n{table(head, found)}" for name, found in sections.items())
    return (
        "# Configuration\n\nEvery key of `config.yaml` and of an overlay. A dot separates levels: `scoring.engine` is "
        f"the key `engine` below `scoring`. Unknown keys are an error.\n{body}"
    )


def explained_keys(text: str) -> dict[str, str]:
    """Return what the head of the registry explains, by key (``# label, size  as printed``)."""
    found: dict[str, str] = {}
    for match in re.finditer(r"^# (\w[\w, ]*?) {2,}(\S.*(?:\n# {3,}\S.*)*)", text, flags=re.MULTILINE):
        words = " ".join(re.sub(r"^# +", "", match[2], flags=re.MULTILINE).split())
        found |= dict.fromkeys(match[1].split(", "), words)
    return found


def registry_page() -> str:
    """Return the page with every key of a registry entry."""
    schema = read_yaml("config/schemas/models.schema.yaml")
    head, _, systems = (ROOT / "config/models.yaml").read_text(encoding="utf-8").partition("\nmodels:")
    notes, body = explained_keys(head), ""
    for kind, own in (("models", {}), ("systems", explained_keys(systems))):
        rows = key_rows(schema["properties"][kind]["additionalProperties"], schema, None, notes | own)
        cells = [(f"`{path}`", values, (notes | own).get(path) or told) for path, values, _, told in rows]
        body += f"\n## {kind}\n\n{table(('key', 'values', 'meaning'), cells)}"
    return f"# Model registry\n\nEvery key of an entry in `config/models.yaml` or in a registry of your own.\n{body}"


def targets_page() -> str:
    """Return the page with the rules that have a docstring."""
    rows = []
    for path in [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]:
        for name, told in re.findall(r'^ *rule ?(\w*):\n\s+"""(.+?)"""', path.read_text(encoding="utf-8"), re.M | re.S):
            rows += [(f"`{target}`", " ".join(told.split())) for target in ([name] if name else STUDIES)]
    return (
        "# Targets\n\n`snakemake --cores 2 TARGET` makes one of these, `snakemake --list-target-rules` lists them. "
        f"Every file below `results/` is a target too.\n\n{table(('target', 'result'), rows)}"
    )


def dictionary_page(meanings: dict[str, str]) -> str:
    """Return the data dictionary: every CSV and Parquet file of the default run with its columns.

    Args:
        meanings: Columns to what they hold (``docs/columns.yaml``).
    """
    stored = pq.read_table(ROOT / GOLDEN).to_pydict()
    tables = {
        path: pyarrow.csv.read_csv(pyarrow.BufferReader(text.encode()))
        for path, text in zip(stored["file"], stored["text"], strict=True)
        if path.endswith(".csv")
    }
    columns = []
    for name, meaning in sorted(meanings.items()):
        holders = [of[name].drop_null()[:100].to_pylist() for of in tables.values() if name in of.column_names]
        examples = (f"{v:.4g}" if isinstance(v, float) else str(v) for values in holders for v in values)
        example = next((f"`{text}`" for text in examples if 0 < len(text) <= LONGEST), "")
        columns.append((f"`{name}`", example, meaning))
    kinds: dict[tuple, list] = {}
    for path in sorted((ROOT / OUTPUTS).glob("*/*/**/*.parquet")):
        schema, name = pq.read_schema(path), path.relative_to(ROOT / OUTPUTS).as_posix()
        fields = tuple(zip(schema.names, map(str, schema.types), strict=True))
        kinds.setdefault((*name.split("/")[:2], fields), []).append(name)
    body = f"\n## Columns\n\n{table(('column', 'example', 'meaning'), columns)}\n## Parquet files\n"
    for (*_, fields), paths in sorted(kinds.items()):
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        rows = [(f"`{name}`", kind.replace("large_", ""), meanings.get(name, "")) for name, kind in fields]
        body += f"\n### `{paths[0]}`{more}\n\n{table(('column', 'type', 'meaning'), rows)}"
    body += "\n## CSV files\n"
    for head in dict.fromkeys(path.split("/")[1] for path in tables):
        rows = [
            (f"`{path.removeprefix('results/')}`", of.num_rows, ", ".join(f"`{name}`" for name in of.column_names))
            for path, of in tables.items()
            if path.split("/")[1] == head
        ]
        body += f"\n### {head}\n\n{table(('file', 'rows', 'columns'), rows)}"
    return (
        "# Data dictionary\n\nThe files of the default run. Instances, scores, answers and token distributions are "
        "Parquet; analyses, tables and the data of figures are CSV. Paths are below `results/`. For predictions, see "
        f"[single instances](results.md#single-instances).\n{body}"
    )
