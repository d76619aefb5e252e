"""Small and whole template sets for the tests, and what jobs that read them are given."""

from pathlib import Path

from scripts.misgendered import instances, study

ROOT = Path(__file__).parents[2]
PRONOUNS = ROOT / "templates/pronouns.tsv"
FOLDER = ROOT / "templates/misgendered"
NUMBERS = [2, 31, 32, 41, 42, 5]

# Nouns only, so that a test that lists forms needs no other sentences.
TEXTS = {
    "nom": "{name} came by train. {pronoun} read a book.",
    "acc": "{name} called. Please wait for {pronoun}.",
    "pos_dep": "{name} has a dog. {pronoun} dog barked.",
    "pos_ind": "{name} has a coat. The red coat is {pronoun}.",
    "ref": "{name} fell. {name} hurt {pronoun}.",
}


def files(folder=FOLDER):
    """Return the files of a replica in a folder."""
    return {"templates": str(folder / "templates.tsv"), "names": str(folder / "names.tsv")}


def official(mirror, wording="faithful"):
    """Return the authors' files in the mirror."""
    place = mirror / "misgendered"
    released = {
        study.name_declaration(kind, number): str(place / f"templates/{file}_{number}.csv")
        for kind, file in study.RELEASED_FILES.items()
        for number in NUMBERS
    }
    return {
        "templates": str(place / "templates/templates.csv"),
        **{name: str(place / f"names/{name}.txt") for name in study.NAME_CLASSES},
        **(released if wording == "faithful" else {}),
    }


def sources(given=None, types=tuple(study.DECLARATION_TYPES), numbers=tuple(NUMBERS), wording="corrected", **changed):
    """Return what rules give to functions that read template files: the replica's, or other files."""
    given = given or files()
    return {
        "template_files": list(given.values()),
        "pronouns": str(PRONOUNS),
        "combinations": str(FOLDER / "declarations.tsv"),
        "pronoun_sets": study.PRONOUN_GROUPS,
        "declared": {"types": types, "numbers": numbers, "wording": wording},
    } | changed


def load(*given, **changed):
    """Return the instances of the replica, or of other files (:func:`sources`)."""
    return instances.load(**sources(*given, **changed))


def small(folder, texts=TEXTS, names=(("Ada", "female"), ("Ben", "male"), ("Sky", "unisex"), ("Kim", "unisex"))):
    """Write a replica with one template for each form, or what is given; return its files."""
    rows = [f"{number}\t{form}\t{text}" for number, (form, text) in enumerate(texts.items())]
    (folder / "templates.tsv").write_text("\n".join(["template\tform\ttext", *rows, ""]), encoding="utf-8")
    rows = [f"{name}\t{name_class}\t1\t2" for name, name_class in names]
    (folder / "names.tsv").write_text("\n".join(["name\tname_class\tgirls\tboys", *rows, ""]), encoding="utf-8")
    return files(folder)
