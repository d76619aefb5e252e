"""Compare two runs, or two models: an HTML page, the source of a PDF, and everything as JSON."""

import contextlib
from pathlib import Path

from scripts.compare import comparison, page, places
from scripts.core import files
from scripts.core.workflow.job import log, run

ROOT = Path(__file__).resolve().parents[2]


def main(
    *,
    template_html: str,
    template_tex: str,
    style: str,
    a_files: list,
    b_files: list,
    comparison_json: str,
    html: str,
    main_tex: str,
    style_copy: str,
    a: str,
    b: str,
    declared: dict,
) -> None:
    """Write the comparison.

    Args:
        template_html, template_tex: The page and the PDF, with gaps for what is found.
        style: The LaTeX style of the proceedings.
        a_files, b_files: What is read of the two runs, besides their records.
        comparison_json, html, main_tex, style_copy: The outputs.
        a, b: The two runs: a folder or a crate and, after a colon, a model.
        declared: Study to ``label``, ``outcomes`` and ``paired`` of its declaration.
    """
    result = compare_and_write(
        a, b, declared, Path.cwd(), [template_html, template_tex, style], [html, main_tex, style_copy]
    )
    files.write_json(comparison_json, result)
    log.info("%s", result["sentence"])


def compare_and_write(a: str, b: str, declared: dict, here: Path, templates: list, outputs: list) -> dict:
    """Compare two runs, write page, LaTeX source and its style to ``outputs``, and return what was found."""
    one, other = (places.find_run(given, key, here, ROOT) for given, key in ((a, "a"), (b, "b")))
    with contextlib.ExitStack() as stack:
        folders = (stack.enter_context(places.open_run(one, "a")), stack.enter_context(places.open_run(other, "b")))
        result = comparison.compare(one, other, folders, declared)
        shown = page.context(result, {name: facts["label"] for name, facts in declared.items()})
        files.write_text(outputs[0], page.html(shown, folders, Path(templates[0])))
    files.write_text(outputs[1], page.tex(shown, Path(templates[1])))
    files.write_text(outputs[2], Path(templates[2]).read_text(encoding="utf-8"))
    return result


if __name__ == "__main__":
    run(main)
