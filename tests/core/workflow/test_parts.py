"""Finished parts: what a killed job finds again."""

import numpy as np

from scripts.core.workflow.parts import Batch, Parts, digest_json

BATCH = Batch([0], 1, None)


def test_windows_that_take_less_than_the_time_between_saves_are_kept(tmp_path, monkeypatch):
    """Forty windows of a second each, saved every ten seconds: a job that is killed loses ten at most."""
    clock = iter(range(1000))
    monkeypatch.setattr("scripts.core.workflow.parts.time.monotonic", lambda: float(next(clock)))
    parts = Parts(tmp_path / "a.parquet", {"model": "m"}, save_seconds=10)
    for window in range(40):
        list(parts.work(digest_json(window), [BATCH], lambda _: [np.array([1.0])]))
    found = Parts(tmp_path / "a.parquet", {"model": "m"}).paths
    assert len(found) >= 30


def test_parts_of_another_entry_are_thrown_away(tmp_path, caplog):
    caplog.set_level("INFO")
    parts = Parts(tmp_path / "a.parquet", {"entry": {"bos_token": "<s>"}}, 0)
    list(parts.work(digest_json(0), [BATCH], lambda _: [np.array([1.0])]))
    assert Parts(tmp_path / "a.parquet", {"entry": {"bos_token": "<s>"}}).paths
    assert "thrown away" not in caplog.text
    assert not Parts(tmp_path / "a.parquet", {"entry": {"bos_token": "</s>"}}).paths
    assert "a.parts: 1 finished part of other settings thrown away" in caplog.text
