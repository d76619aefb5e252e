"""Correlate what each system does with *she* and *he* with the share of women in each occupation."""

import pandas as pd

from scripts.core import files
from scripts.core.job import log, run
from scripts.winopron.lib import occupations
from scripts.winopron.lib.analyses import performance
from scripts.winopron.lib.analyses import women_share as women_shares

KEYS = ["templates", "system", "conversion"]


def main(
    *,
    instances: list,
    predictions: list,
    women: str,
    women_share: str,
    women_share_occupations: str,
    template_sets: list,
    draws: int,
    seed: int,
):
    """Write both tidy tables over all ``template_sets``; each has a file of sentences about two people of both kinds.

    ``women_share`` has the columns of ``women_share.AGREEMENT`` behind :data:`KEYS`, ``women_share_occupations`` those
    of ``women_share.DIFFERENCES``. ``women`` is the table of the share of women by occupation. ``draws`` and ``seed``
    are those of the bootstrap over occupations.
    """
    shares = occupations.read(women)
    agreements, differences = [], []
    for templates, instances_path, predictions_path in zip(template_sets, instances, predictions, strict=True):
        sentences, predicted = files.read_parquet(instances_path), files.read_parquet(predictions_path)
        unknown = sorted(set(sentences.occupation) - set(shares))
        if unknown:
            log.warning("%s: the share of women is not known of %s", templates, ", ".join(unknown))
        for (system, conversion), of_system in predicted.groupby(["system", "conversion"], sort=False):
            keys = {"templates": templates, "system": system, "conversion": conversion}
            answers = performance.joined(of_system.drop(columns="right"), performance.asked(of_system, sentences))
            found = women_shares.differences(answers, shares)
            differences.append(found.assign(**keys))
            agreements.append(women_shares.agreement(found, draws, seed).assign(**keys))
    for path, parts, columns in (
        (women_share, agreements, women_shares.AGREEMENT),
        (women_share_occupations, differences, women_shares.DIFFERENCES),
    ):
        files.write_csv(path, pd.concat(parts, ignore_index=True)[[*KEYS, *columns]])


if __name__ == "__main__":
    run(main)
