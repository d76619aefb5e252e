"""The texts that models fill or continue: an instance with a mask, and with each prompt."""

import pandas as pd

from scripts.core.options import SLOT
from scripts.underspecification.lib.instances import ROWS

MASK = "[MASK]"


def make(instances, prompts):
    """Return one row for each instance with a plain mask and with each of ``prompts``.

    Parameters
    ----------
    instances : DataFrame
        With ``instance_id``, ``text`` and :data:`scripts.underspecification.lib.instances.ROWS`.
    prompts : dict of str to Prompt
        From :func:`scripts.underspecification.lib.templates.read_prompts`.

    Returns
    -------
    DataFrame
        ``text_id``, ``instance_id``, ``prompt`` (``mask`` or the prompt's id), ``text``, ``method``, and the lines that
        the instance was made from (:data:`scripts.underspecification.lib.instances.ROWS`).
    """
    rows = []
    for identifier, text in zip(instances.instance_id, instances.text, strict=True):
        rows.append((identifier, "mask", text.replace(SLOT, MASK), "mask"))
        for name, prompt in prompts.items():
            rows.append((identifier, name, prompt.wrap(text.replace(SLOT, prompt.blank)), "generate"))
    frame = pd.DataFrame(rows, columns=["instance_id", "prompt", "text", "method"])
    frame.insert(0, "text_id", frame.instance_id + "-" + frame.prompt)
    return frame.join(instances.set_index("instance_id")[list(ROWS)], on="instance_id")
