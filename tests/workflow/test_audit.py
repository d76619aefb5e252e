"""The audit of a finished run: silent when nothing was touched, and precise about whatever was.

tests/core/provenance has every verdict on plain data; here the audit finds what was done to files of a real run.
"""

import json
import os
import platform
import re
import shlex
import shutil
import zipfile
from pathlib import Path

import pytest

from scripts.core import files
from scripts.core.paper.sections import link_target
from scripts.core.provenance import job_records, reporting, trace
from tests.workflow.conftest import PAPER, TARGETS, Workflow, audit

pytestmark = pytest.mark.workflow

SCORES = "results/ruff/scores/replica"
WINOPRON = "results/winopron"
TABLES, PICTURES = f"{WINOPRON}/tables/replica", f"{WINOPRON}/figures/replica"
ESTIMATES, NUMBERS = f"{WINOPRON}/estimates.csv", f"{WINOPRON}/analysis/replica/paper_numbers.json"
RECORD = "results/provenance/winopron_tables/templates=replica.json"
FULL = "winopron.replica.accuracy.double.{}.model.full likelihood.corrected.value"
"""The id of a number."""
typeset = pytest.mark.skipif(PAPER != "paper", reason="latexmk is not installed: there is no paper and no manifest")


def copied(finished, folder):
    """Copy a finished run with Snakemake's own notes."""
    shutil.copytree(finished.folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def tree(finished, tmp_path):
    return copied(finished, tmp_path / "copy")


def findings(folder, *arguments, **options):
    """Return the exit status and what the audit finds of each file."""
    status, printed = audit(folder, "--json", *arguments, **options)
    return status, json.loads(printed[printed.index("{") :])["files"]


def records_of(tree):
    return [path.relative_to(tree).as_posix() for path in (tree / "results/provenance").glob("[!.]*/*.json")]


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def replace(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def edit_code(path):
    path.write_text(f"{path.read_text(encoding='utf-8')}X = 1\n", encoding="utf-8")


def edit_cell(path):
    path.write_text(re.sub(r"\d\.\d", "7.7", path.read_text(encoding="utf-8"), count=1), encoding="utf-8")


def edit_lock(tree):
    path = tree / "requirements.lock"
    path.write_text(re.sub(r"^scipy==\S+", "scipy==99.0", path.read_text(), count=1, flags=re.MULTILINE))


def edit_draws(tree):
    path = tree / "config/test.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("draws: 200", "draws: 300"), encoding="utf-8")


def upgrade_scipy(tree):
    """Install another version before the one that is used."""
    info = tree / "upgraded/scipy-99.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: scipy\nVersion: 99.0\n")


# What is done; the file that the audit must name; its verdict; what the reason must say; and the line of docs/audit.md.
# Those of a round are done to one copy of the run.
ROUNDS = (
    {
        "byte": (
            lambda tree: flip(tree / f"{SCORES}/tiny-bert/1of1.parquet"),
            f"{SCORES}/tiny-bert/1of1.parquet", "tampered", "output", "a byte of a score file is flipped",
        ),
        "shard": (
            lambda tree: shutil.copy(
                tree / f"{SCORES}/tiny-llama/1of1.parquet", tree / f"{SCORES}/tiny-opt/1of1.parquet"
            ),
            f"{SCORES}/tiny-opt/1of1.parquet", "mixed", "score file's model",
            "a model's score file is replaced by another model's",
        ),
        "cell": (
            lambda tree: edit_cell(tree / ESTIMATES), ESTIMATES, "tampered", "output",
            "a cell of a table of results is edited",
        ),
        "what follows": (
            lambda tree: None, NUMBERS, "stale", "input", "a table is edited and what follows from it is left",
        ),
        "figure": (
            lambda tree: shutil.copy(tree / f"{PICTURES}/accuracy.pdf", tree / f"{PICTURES}/bias.pdf"),
            f"{PICTURES}/bias.pdf", "tampered", "output", "a figure is replaced by another one",
        ),
        "deleted": (
            lambda tree: (tree / f"{PICTURES}/consistency.pdf").unlink(),
            f"{PICTURES}/consistency.pdf", "missing", "does not exist", "a figure is deleted",
        ),
        "extra": (
            lambda tree: shutil.copy(tree / f"{PICTURES}/accuracy.pdf", tree / f"{PICTURES}/mine.pdf"),
            f"{PICTURES}/mine.pdf", "orphan", "no rule", "a file that no rule makes lies among the results",
        ),
        "record": (
            lambda tree: (tree / RECORD).unlink(),
            f"{TABLES}/consistency.csv", "missing", "did not finish", "a record is deleted",
        ),
    },
    {
        "module": (
            lambda tree: edit_code(tree / "scripts/winopron/figures.py"),
            f"{PICTURES}/accuracy.pdf", "stale", "module scripts/winopron/figures.py",
            "the code of an analysis is edited",
        ),
        "template": (
            lambda tree: replace(tree / "templates/ruff/context.tsv", "weather", "Weather"),
            "results/ruff/instances/replica/context_free.parquet", "stale", "input templates/ruff/context.tsv",
            "a sentence of the templates is changed",
        ),
        "weights": (
            lambda tree: flip(tree / "zoo/tiny-opt/model.safetensors"),
            f"{SCORES}/tiny-opt/1of1.parquet", "stale", "weights tiny-opt",
            "a checkpoint is overwritten in its folder",
        ),
        "lock": (edit_lock, ESTIMATES, "stale", "package scipy", "another version stands in the lock file"),
        "package": (
            upgrade_scipy, ESTIMATES, "stale", "installed package scipy",
            "a package is upgraded and the lock file is not",
        ),
        "parameter": (
            edit_draws, f"{WINOPRON}/overlap.csv", "stale", "parameter draws",
            "a setting of the configuration is changed",
        ),
    },
)  # fmt: skip
TAMPERINGS = {name: tampering for done in ROUNDS for name, tampering in done.items()}


@pytest.fixture(scope="module")
def audited(finished, tmp_path_factory):
    """Return what the audit finds after a round of tamperings; each round is audited once."""
    told = {}

    def audit_round(number):
        if number not in told:
            tree = copied(finished, tmp_path_factory.mktemp("round") / "copy")
            for tamper, *_ in ROUNDS[number].values():
                tamper(tree)
            status, told[number] = findings(tree, code=f"{tree}{os.pathsep}{tree / 'upgraded'}")
            assert status == 1
        return told[number]

    return audit_round


@pytest.mark.parametrize(
    ("number", "name"),
    [
        pytest.param(number, name, marks=pytest.mark.attack(case[4], f"`{case[2]}`: {case[3]}"), id=name)
        for number, done in enumerate(ROUNDS)
        for name, case in done.items()
    ],
)
def test_every_tampering_is_found_and_named(audited, number, name):
    _, path, verdict, told, _ = TAMPERINGS[name]
    found = audited(number)
    assert found[path]["verdict"] == verdict
    assert any(told in reporting.describe_reason(reason) for reason in found[path]["reasons"]), found[path]
    # Neither round touches what this is made from.
    assert found[f"{WINOPRON}/instances/replica/double.parquet"]["verdict"] == "current"


def test_what_follows_from_a_table_is_not_current_up_to_the_paper(audited):
    found = audited(0)
    for path in ("figures/headlines.pdf", "sections/winopron.tex", *(["main.pdf"] if PAPER == "paper" else [])):
        assert found[f"results/paper/{path}"]["verdict"] == "stale"
    assert found[f"{WINOPRON}/overlap.csv"]["verdict"] == "current"


def test_a_copy_of_results_alone_with_fresh_times_is_current(finished, tmp_path):
    shutil.copytree(finished.folder / "results", tmp_path / "results", copy_function=shutil.copy)
    overlay = tmp_path / "overlay.yaml"
    text = (finished.folder / "config/test.yaml").read_text()
    overlay.write_text(text.replace("registry: zoo", f"registry: {finished.folder}/zoo"))
    status, printed = audit(tmp_path, overlay=overlay, code=finished.folder)
    assert status == 0, printed
    assert re.fullmatch(r"(\d+) files: \1 current\n", printed), printed


@typeset
@pytest.mark.attack(
    "a result is changed, and every record that follows with it",
    "`--against` the published list: changed, the record says something else",
)
def test_a_forged_run_is_told_by_what_was_published(tree, tmp_path):
    """The audit alone finds accidents; a result that was changed with its records agrees with them."""
    published = shutil.copy(tree / "results/paper/manifest.sha256", tmp_path / "published.sha256")
    table, forged = f"{TABLES}/performance.csv", RECORD
    edit_cell(tree / table)
    new = files.sha256(tree / table)
    for path in records_of(tree):
        record = json.loads((tree / path).read_text(encoding="utf-8"))
        for side in ("inputs", "outputs"):
            if table in record[side]:
                record[side][table] = new
                files.write_json(tree / path, record | {"checksum": job_records.checksum(record)})
    status, printed = audit(tree)
    assert status == 0, printed
    status, printed = audit(tree, "--against", published)
    assert status == 1
    changed = rf"^changed +{re.escape(table)}: was \w{{16}}, now {new[:16]}$"
    assert re.search(changed, printed, flags=re.MULTILINE), printed
    assert f"{forged}: the record says something else" in printed


@typeset
def test_what_a_cut_list_lacks_is_a_difference(finished, asked, tmp_path):
    whole = finished.folder / "results/paper/manifest.sha256"
    status, printed = asked("--against", whole)
    assert status == 0
    told = rf"^against \S+ \(SHA-256 {files.sha256(whole)}\): \d+ files and records, 0 differences$"
    assert re.search(told, printed, flags=re.MULTILINE), printed
    (tmp_path / "short").write_text(re.sub("^#record.*\n", "", whole.read_text(), flags=re.MULTILINE))
    lacking = whole.read_text().count("#record ")
    status, printed = asked("--against", tmp_path / "short")
    assert status == 1
    assert printed.count("unlisted ") == lacking and f", {lacking} differences\n" in printed
    assert asked("--against", "config.yaml")[0] == 2


@typeset
def test_the_paper_ends_with_the_digest_of_its_manifest(finished):
    value = files.sha256(finished.folder / "results/paper/manifest.sha256")
    appendix = (finished.folder / "results/paper/sections/provenance.tex").read_text()
    assert value in appendix.replace(r"\allowbreak{}", "")
    source = (finished.folder / "results/paper/main.tex").read_text()
    assert source.rstrip().endswith("\\input{sections/provenance}\n\\end{document}")
    log = (finished.folder / "results/logs/paper_pdf/paper.log").read_text()
    assert (
        f"results/paper/manifest.sha256: the digests of all results behind the paper; its own SHA-256 is {value}" in log
    )
    listed = (finished.folder / "results/paper/manifest.sha256").read_text()
    for path in (f"{PICTURES}/accuracy.pdf", f"{SCORES}/tiny-opt.parquet", ESTIMATES):
        assert f"{files.sha256(finished.folder / path)}  {path}\n" in listed


def test_records_and_logs_name_neither_machine_nor_folders(finished):
    results = finished.folder / "results"
    found = [path for folder in ("provenance", "logs") for path in (results / folder).rglob("*") if path.is_file()]
    assert len(found) > 100
    for path in found:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not re.search(rf"\b{re.escape(platform.node())}\b|{re.escape(platform.release())}", text), path
        for folder in (finished.folder, Path.home(), Path(__file__).parents[2]):
            assert not re.search(rf"(?<![\w.~-]){re.escape(str(folder))}(?![\w-])", text), path


@pytest.mark.nightly
def test_results_that_were_touched_rerun_nothing_and_stay_stale(tree):
    """As docs/audit.md says of edits whose results are to be kept."""
    copy = Workflow.of(tree)
    module, table = "scripts/winopron/tables.py", f"{TABLES}/performance.csv"
    edit_code(tree / module)
    assert copy.planned(*TARGETS, "--rerun-triggers", "mtime", "input") == {}
    assert "winopron_tables" in copy.planned(*TARGETS)
    done = copy.snakemake("--touch", *TARGETS)
    assert done.returncode == 0, done.stdout
    assert copy.planned(*TARGETS) == {}
    status, found = findings(tree)
    assert (status, found[table]["verdict"]) == (1, "stale")
    assert [reason["name"] for reason in found[table]["reasons"] if reason["kind"] == "module"] == [module]
    done = copy.snakemake("--forcerun", "paper_provenance", "--", "paper_provenance")
    assert done.returncode != 0
    assert f"module {module}: was" in done.stdout


def test_every_link_of_the_paper_leads_somewhere(finished):
    folder = finished.folder / "results/paper"
    sections = [p for p in sorted((folder / "sections").glob("*.tex")) if p.stem not in ("provenance", "currency")]
    text = "".join(path.read_text() for path in [folder / "main.tex", *sections])
    links = set(re.findall(r"\\(?:sourced|origin)\{([^}]+)\}", text))
    appendix = (folder / "sections/provenance.tex").read_text()
    assert links <= set(re.findall(r"\\hypertarget\{([^}]+)\}", appendix))
    captions = len(re.findall(r"\\caption\{", text))
    assert captions == len(re.findall(r"\\origin\{", text)) == len(re.findall(r"\\ref\{", appendix))
    listed = files.read_csv(folder / "provenance.csv").fillna("")
    shown = listed[listed.kind.isin(["figure", "table"])]
    assert len(shown) == captions
    assert links == set(shown.result) | set(map(link_target, listed[listed.kind == "number"].result))
    for row in listed.itertuples():
        assert files.sha256(finished.folder / row.file) == row.sha256, row.file
        assert row.rule and row.commit, row.file
        assert row.kind == "number" or json.loads(row.code), row.file
    # A link ends at the file's entry, which has its digest.
    entries = [line for line in appendix.splitlines() if line.startswith(r"\hypertarget")]
    for row in listed[listed.result != ""].itertuples():
        target = link_target(row.result) if row.kind == "number" else row.result
        (entry,) = [line for line in entries if rf"\hypertarget{{{target}}}" in line]
        assert row.sha256[:10] in entry
    number = listed[(listed.kind == "number") & listed.result.str.startswith("winopron.replica.")].iloc[0]
    study, part, name = number.result.split(".", 2)
    made = json.loads((finished.folder / f"results/{study}/analysis/{part}/paper_numbers.json").read_text())[name]
    assert (number["shown"], json.loads(number.cell)) == (made["text"], made["cell"])
    every = {
        path.relative_to(finished.folder).as_posix() for path in (finished.folder / "results").rglob("figures/**/*.pdf")
    }
    assert every <= set(listed.file)


@pytest.mark.attack(
    "a table is edited by hand and the paper typeset",
    "the paper is refused, or marked where the configuration allows it",
)
def test_a_paper_of_a_table_edited_by_hand_is_refused_or_marked(tree):
    replace(tree / f"{WINOPRON}/tables/counts.tex", r"\bottomrule", r"\bottomrule ")
    done = Workflow.of(tree).snakemake("paper_provenance")
    assert done.returncode != 0
    assert f"{WINOPRON}/tables/counts.tex is tampered (output" in done.stdout
    assert "paper.allow_stale: true" in done.stdout
    currency = tree / "results/paper/sections/currency.tex"
    assert not currency.exists()
    replace(tree / "config/test.yaml", "ruff:\n", "paper: {allow_stale: true}\nruff:\n")
    done = Workflow.of(tree).snakemake("paper_provenance")
    assert done.returncode == 0, done.stdout
    assert "1 tampered" in currency.read_text()


def test_a_fresh_run_is_current_and_its_audit_reruns_nothing(finished, asked):
    status, printed = asked()
    assert status == 0, printed
    assert re.search(r"(\d+) files: \1 current", printed)
    assert finished.planned(*TARGETS) == {}


TRACES = {
    # What is asked for; what the answer must hold; what it must not hold.
    FULL.format("tiny-opt"): (
        [r"number winopron\S+ likelihood.corrected.value = \d+\.\d, from estimates.csv .*model=tiny-opt",
         r"\n12 rows of \S+/selected\.parquet, made from\n", "model tiny-opt, .*weights ",
         r"\n  templates/winopron/sentences\.tsv: lines [\d, -]+\n"],
        ["tiny-llama", "double.parquet", "prompts"],
    ),
    # Of one case; heuristics read all sentences.
    f"{ESTIMATES}:entities=double,model=nearest,case=nominative,pronoun_set=,reading=corrected,metric=accuracy:low": (
        [r"cell low = 0", r"\n\d+ rows of results/winopron/instances/replica/double\.parquet"],
        [r"\n1440 rows", "selected.parquet", "weights "],
    ),
    # A table's cell that is no row of estimates has the lines of its table.
    f"{TABLES}/performance.csv:1:F1": (
        [r"cell F1 = ", r"\n1440 rows of results/winopron/instances/replica/double\.parquet", "weights "], [],
    ),
    f"{PICTURES}/consistency.pdf": ([r"rows of \S+/double\.parquet", "weights "], [r"rows of \S+/single\.parquet"]),
    # A table that no instance is behind, and one of sentences.
    f"{WINOPRON}/tables/prompts.csv": ([r"read directly:\n  templates/winopron/prompts\.tsv: lines? "], ["rows of"]),
    "winopron.replica.setting.draws": ([r"config/test\.yaml +\["], [r"rows of", r"\.parquet", r"results/"]),
}  # fmt: skip


@pytest.mark.parametrize("what", TRACES)
def test_a_result_leads_to_the_lines_that_it_used(asked, what):
    found, absent = TRACES[what]
    status, printed = asked(what)
    assert status == 0, printed
    assert [pattern for pattern in found if not re.search(pattern, printed)] == [], printed
    assert [pattern for pattern in absent if re.search(pattern, printed)] == [], printed


def test_the_answer_comes_first_and_what_lies_between_where_it_is_asked_for(asked):
    status, printed = asked("figure 1", "-v")
    assert status == 0, printed
    for word in ("/figures/", "rule score", "weights ", "current"):
        assert word in printed
    status, short = asked("figure 1")
    title, model, *_ = short.splitlines()
    assert title.startswith("figure 1 (") and re.match(r"model tiny-\w+, revision none, weights \w{16}, ", model)
    assert "rule score" not in short and printed.startswith(short.rpartition("\n")[0][:200])
    assert len(short.splitlines()) < 40
    found = json.loads(asked(FULL.format("tiny-opt"), "--json")[1])
    assert found["found"][0]["rows"][0]["model"] == "tiny-opt"
    assert f"{WINOPRON}/scores/replica/tiny-opt.parquet" in found["files"]
    assert all(record["checksum"] for record in found["records"].values())


def numbered(finished, label):
    """Return what the paper calls the figure or table whose label ends so, such as ``table 4``."""
    listed = files.read_csv(finished.folder / trace.PAPER)
    return listed[listed.result.fillna("").str.endswith(label)].shown.iloc[0].lower()


def test_the_examples_of_the_help_work(finished, asked):
    _, printed = audit(finished.folder, "--help")
    examples = re.findall(r"^ +python -m scripts\.audit +(.+?)(?:  .*)?$", printed, flags=re.MULTILINE)
    assert len(examples) >= 5
    for example in examples:
        if example != "all results":
            status, printed = asked(*shlex.split(example))
            assert status == 0, printed


@pytest.mark.parametrize(
    ("what", "told"),
    [
        (FULL.format("tiny-opd"), "did you mean 'winopron."),
        ("compute:1:x", "name a cell by its file"),
        ("winopron-consistency:1:Case", f"as the file counts it: {TABLES}/consistency.csv:ROW:COLUMN"),
        (f"{TABLES}/performance.csv:1:x", "performance.csv: has no column 'x'"),
        (f"{TABLES}/performance.csv:999:F1", "'999' chooses 0 rows"),
        (f"{TABLES}/none.csv:1:x", "no such file"),
        (f"{TABLES}/performance.csv:1", "write FILE.csv:ROW:COLUMN"),
    ],
)
def test_what_is_not_there_is_an_error(finished, asked, what, told):
    if what.startswith(("compute", "winopron-consistency")):
        label, colon, cell = what.partition(":")
        what = f"{numbered(finished, label)}{colon}{cell}"
    status, printed = asked(what)
    assert status == 2
    assert told in printed


@pytest.mark.nightly
def test_a_plan_of_another_configuration_changes_no_result(tree):
    overlay = (tree / "config/test.yaml").read_text(encoding="utf-8")
    overlay = overlay.replace("sample_size: 12", "sample_size: 32").replace("dates: 3", "dates: 4")
    (tree / "config/other.yaml").write_text(re.sub("^models: .*", "models: [tiny-bert]", overlay, flags=re.MULTILINE))
    copy = Workflow.of(tree)
    kept = {path: files.sha256(path) for path in sorted((tree / "results").rglob("*")) if path.is_file()}
    done = copy.snakemake("plan", overlay="config/other.yaml")
    assert done.returncode == 0, done.stdout
    assert set(files.read_csv(tree / "results/plan.csv").query("rule == 'score'").model) == {"tiny-bert"}
    # Snakemake itself says that there is nothing to be done, and so does the audit.
    assert copy.planned(*TARGETS) == {}
    status, printed = audit(tree)
    assert status == 0, printed
    assert {path: files.sha256(path) for path in kept} == kept


@pytest.mark.nightly
def test_a_run_outside_the_repository_is_current_and_can_be_packed(finished, tmp_path):
    """Jobs that ran with ``--directory`` name files of the repository as jobs in it do."""
    run, sentences = tmp_path / "run", "templates/winopron/sentences.tsv"
    for name in ("results", "zoo"):
        shutil.copytree(finished.folder / name, run / name)
    (run / "config").mkdir()
    shutil.copy2(finished.folder / "config/test.yaml", run / "config/test.yaml")
    outside = Workflow.of(run)
    snakefile = ["--snakefile", str(finished.folder / "Snakefile"), "--directory", str(run)]
    # All of one study is made here, and the paper anew; the rest was made in the repository.
    done = outside.snakemake(*snakefile, "--forcerun", "winopron_instances", "--", PAPER)
    assert done.returncode == 0, done.stdout
    record = json.loads(
        (run / "results/provenance/winopron_instances/entities=double,templates=replica.json").read_text()
    )
    assert set(record["inputs"]) == {"templates/occupations.tsv", "templates/pronouns.tsv", sentences}
    status, printed = audit(run, code=finished.folder)
    assert status == 0, printed
    status, printed = audit(run, FULL.format("tiny-opt"), code=finished.folder)
    assert status == 0, printed
    assert f"{sentences}: lines " in printed
    if PAPER == "paper":
        done = outside.snakemake(*snakefile, "crate")
        assert done.returncode == 0, done.stdout
        with zipfile.ZipFile(run / "results/crate/run.crate.zip") as archive:
            assert sentences in archive.namelist()
            graph = {e["@id"]: e for e in json.loads(archive.read("ro-crate-metadata.json"))["@graph"]}
        assert graph[sentences]["sha256"] == files.sha256(finished.folder / sentences)
        assert {"@id": sentences} in graph["#run"]["object"]
