"""Lists of first names by gender and country, and their matching; on made-up lists and the study's."""

import itertools

import numpy as np
import pytest

from scripts.core.coreference_systems import augmentation as a
from scripts.core.coreference_systems import first_names
from tests.refusals import refused


# Rows of a list of names: the sign, the name, and frequencies by the number of the country's column.
def name_row(sign, name, frequencies):
    row = list(f"{sign:<3}{name}".ljust(first_names.MARK))
    for country, value in frequencies.items():
        row[30 + country] = f"{value:X}"
    return "".join(row) + "$\r\n"


def name_file(tmp_path, *rows, text=""):
    path = tmp_path / "nam_dict.txt"
    path.write_text("# a comment\r\n= Ann Anna\r\n" + "".join(name_row(*row) for row in rows) + text, encoding="utf-8")
    return path


def test_names_are_read_by_gender_and_country(tmp_path):
    path = name_file(
        tmp_path,
        ("M", "Åke", {0: 13, 1: 2, 54: 1}),
        ("?F", "Kim", {2: 3}),
        ("?M", "Kim", {2: 3}),
        ("1M", "Jo", {2: 1}),
        ("F", "Jo", {2: 5}),
        ("?", "Lou+Ann", {}),
    )
    names = first_names.read_names(path)
    assert [(name.name, name.gender) for name in names] == [
        ("Åke", "male"), ("Kim", "mostly female"), ("Jo", "female"),
        *((name, "unisex") for name in ("LouAnn", "Lou Ann", "Lou-Ann")),
    ]  # fmt: skip
    assert len(names[0].frequencies) == first_names.COUNTRIES
    assert (names[0].frequencies[0], names[0].frequencies[1], names[0].frequencies[54]) == (13, 2, 1)
    # One column late: without the first country, and with a column of nothing behind the last.
    late = first_names.read_names(path, "faithful")[0].frequencies
    assert late == (*names[0].frequencies[1:], 0)
    assert a.number_placeholders(names)["LouAnn"] == "E3"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("M  Bo\n", id="short"),
        pytest.param(name_row("X", "Bo", {}), id="sign"),
        pytest.param(name_row("M", "Bo", {0: 15}), id="frequency"),
    ],
)
def test_bad_rows_of_names_are_named(tmp_path, text):
    with refused("nam_dict.txt", "row 3", "gender-guesser"):
        first_names.read_names(name_file(tmp_path, text=text))


def vectors(rng, size):
    return rng.integers(0, 14, (size, first_names.COUNTRIES)) * (rng.random((size, first_names.COUNTRIES)) < 0.1)


def test_weights_are_distance_times_angle():
    rng = np.random.default_rng(0)
    first, second = vectors(rng, 6), vectors(rng, 5)
    first[0] = 0
    second[1] = first[2]
    found = first_names.weigh_pairs(first, second)
    for i, v in enumerate(first.astype(float)):
        for j, w in enumerate(second.astype(float)):
            cosine = v @ w / (np.linalg.norm(v) * np.linalg.norm(w) + 1e-10)
            assert found[i, j] == pytest.approx(np.linalg.norm(v - w) * (12 / 11 - cosine), abs=1e-9)
    assert found[2, 1] == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_matching_has_the_least_total_weight_of_all(seed):
    rng = np.random.default_rng(seed)
    lists = [
        [first_names.Name(f"{gender}{i}", gender, tuple(map(int, row))) for i, row in enumerate(vectors(rng, size))]
        for gender, size in (("m", 6), ("f", 8))
    ]
    pairs, total = first_names.match_names(*lists)
    # The two female names with the smallest sums of frequencies stay out.
    kept = sorted(lists[1], key=lambda name: -sum(name.frequencies))[:6]
    table = first_names.weigh_pairs([name.frequencies for name in lists[0]], [name.frequencies for name in kept])
    least = min(table[range(6), order].sum() for order in map(list, itertools.permutations(range(6))))
    assert total == pytest.approx(least)
    assert {first for first, _ in pairs} == {name.name for name in lists[0]}
    assert {second for _, second in pairs} == {name.name for name in kept}
    swaps = first_names.swap_pairs(pairs)
    assert len(swaps) == 12 and all(swaps[swaps[name]] == name for name in swaps)


@pytest.fixture(scope="module")
def study_names():
    """The list of names of the package gender-guesser, as the study read it."""
    return first_names.read_names(first_names.packaged_names(), "faithful")


def test_another_list_of_names_is_refused(tmp_path, monkeypatch):
    package = tmp_path / "names_of_mine"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(first_names, "NAME_PACKAGE", "names_of_mine")
    with refused("gender-guesser", "not installed"):
        first_names.packaged_names()
    (package / "data/nam_dict.txt").write_text("M  Bo\n", encoding="utf-8")
    with refused("nam_dict.txt", "gender-guesser 0.4.0"):
        first_names.packaged_names()


def test_male_names_match_female_ones_and_mostly_male_mostly_female(tmp_path):
    path = name_file(
        tmp_path,
        ("M", "Al", {2: 5}), ("F", "Ann", {2: 4}), ("F", "Rare", {3: 1}), ("1M", "Kit", {2: 1}), ("?F", "Sam", {2: 1}),
        ("?", "Lou", {2: 1}),
    )  # fmt: skip
    pairs, totals = first_names.match_genders(first_names.read_names(path))
    assert pairs == {"male": [("Al", "Ann")], "mostly male": [("Kit", "Sam")]}
    assert totals == {"male": pytest.approx(12 / 11 - 1), "mostly male": 0}
    assert first_names.match_genders([])[0] == {"male": [], "mostly male": []}


def test_the_list_of_names_has_the_published_sizes(study_names):
    corrected = first_names.read_names(first_names.packaged_names())
    sizes = [
        [sum(name.gender == gender for name in names) for gender in ("male", "female", "mostly male", "mostly female")]
        for names in (study_names, corrected)
    ]
    assert sizes == [[19419, 18506, 761, 568], [19426, 18508, 762, 570]]


def test_mostly_male_names_match_mostly_female_ones_at_the_published_weight(study_names):
    both = ([name for name in study_names if name.gender == f"mostly {gender}"] for gender in ("male", "female"))
    pairs, total = first_names.match_names(*both)
    assert len(pairs) == 568
    assert total == pytest.approx(903.88, abs=0.005)


def test_the_published_pairs_have_the_published_weights(study_names, mirror):
    """``nam_map.txt`` of the authors' repository, weighed with the vectors of gender-guesser's ``nam_dict.txt``.

    Matching the male with the female names of the whole list takes minutes and three gigabytes; the authors' pairs are
    a matching of least weight and show that the weights are theirs.
    """
    names = {name.name: name for name in study_names}
    published = a.read_name_map(mirror / "counter_gap/cda/nam_map.txt")
    assert len(published) == 2 * (18506 + 568)
    totals = dict.fromkeys(("male", "mostly male"), 0.0)
    for first, second in published.items():
        if names[first].gender in totals:
            pair = ([names[name].frequencies] for name in (first, second))
            totals[names[first].gender] += first_names.weigh_pairs(*pair).item()
    assert totals["male"] == pytest.approx(8103.72, abs=0.005)
    assert totals["mostly male"] == pytest.approx(903.88, abs=0.005)
