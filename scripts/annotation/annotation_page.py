"""Write the page in which annotators answer: one HTML file that runs in a browser, without a server."""

import jinja2

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.workflow.job import log, run


def main(*, questions: str, template: str, page: str, seed: int, name: str = "answers"):
    """Write ``page`` (HTML) from the ``questions`` (Parquet) of a study, in an order that ``seed`` decides.

    Args:
        questions, template: The task, and the page with a place for it (HTML with Jinja).
        page: The page to write.
        seed: Of the order of the items, the same for all annotators.
        name: What the files that annotators save are called, before their own name.
    """
    shown = annotation.page(annotation.load(questions), seed)
    # tojson escapes what could end the element that the task is written into.
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    written = environment.from_string(files.read_text(template, "restore it")).render(task=shown, name=name)
    log.info("%d items to answer", len(shown["items"]))
    files.write_text(page, written)


if __name__ == "__main__":
    run(main)
