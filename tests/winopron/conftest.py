"""Sentences of WinoPron and a finished run, which several tests share."""

import pytest

from scripts.winopron import instances, study, templates
from tests.winopron import make, synthetic


@pytest.fixture(scope="session")
def replica(root):
    """The templates of this project."""
    return templates.read_replica(root / "templates/winopron/sentences.tsv", root / "templates/occupations.tsv")


@pytest.fixture(scope="session")
def double(tmp_path_factory):
    """48 instances: 12 templates about two pairs of people with 4 pronoun sets."""
    return instances.build_instances(make.read(tmp_path_factory.mktemp("double")), "double", make.PRONOUNS)


@pytest.fixture(scope="session")
def twelve_pairs(tmp_path_factory):
    """288 instances about twelve pairs of people."""
    return synthetic.sentences(tmp_path_factory.mktemp("twelve"))


@pytest.fixture(scope="session", params=["rules alone", "all systems"])
def run(request, tmp_path_factory):
    """The folder of a run with its tables, and the labels of its systems."""
    rules = {name: study.RULES[name] for name in ("first", "last")}
    labels = rules if request.param == "rules alone" else rules | {name: name for name in study.SYSTEMS}
    return synthetic.write_run(tmp_path_factory.mktemp("run"), labels), labels
