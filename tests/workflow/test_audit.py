"""The audit of a finished run: silent when nothing was touched, and precise about whatever was."""

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
from scripts.core.provenance import job_records, trace
from tests import forks
from tests.workflow.conftest import PAPER, TARGETS, audit

pytestmark = pytest.mark.workflow

SCORES = "results/ruff/scores/replica"
WINOPRON = "results/winopron"
TABLES, PICTURES = f"{WINOPRON}/tables/replica", f"{WINOPRON}/figures/replica"
ESTIMATES, NUMBERS = f"{WINOPRON}/estimates.csv", f"{WINOPRON}/analysis/replica/paper_numbers.json"
FULL = "winopron.replica.accuracy.double.{}.model.full likelihood.corrected.value"
"""The id of a number."""


def copied(finished, folder, **options):
    """Copy a finished run without Snakemake's own notes."""
    ignored = shutil.ignore_patterns(".snakemake", "__pycache__")
    shutil.copytree(finished.folder, folder, ignore=ignored, **options)
    return folder


@pytest.fixture
def tree(finished, tmp_path):
    return copied(finished, tmp_path / "copy")


def verdicts(folder):
    """Return the exit status, ``{path: verdict}`` of what is not current, and ``{path: reasons}``."""
    status, printed = audit(folder, "--json")
    found = json.loads(printed[printed.index("{") :])["files"]
    bad = {path: finding["verdict"] for path, finding in found.items() if finding["verdict"] != "current"}
    return status, bad, {path: finding["reasons"] for path, finding in found.items()}


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
    text = path.read_text(encoding="utf-8")
    number = re.search(r"\d\.\d", text)
    path.write_text(text[: number.start()] + "7.7" + text[number.end() :], encoding="utf-8")


def edit_lock(tree):
    path = tree / "requirements.lock"
    path.write_text(re.sub(r"^scipy==\S+", "scipy==99.0", path.read_text(), count=1, flags=re.MULTILINE))


RECORD = "table={},templates=replica.json"

# What is done to the run; the file that the audit must name; its verdict; what the reason must say; a file that must
# stay current. Those of a round are far enough apart to be done to one copy of the run.
ROUNDS = (
    {
        "byte": (
            lambda tree: flip(tree / f"{SCORES}/tiny-opt/1of1.parquet"),
            f"{SCORES}/tiny-opt/1of1.parquet", "tampered", "output", f"{SCORES}/tiny-bert/1of1.parquet",
        ),
        "cell": (
            lambda tree: edit_cell(tree / f"{TABLES}/performance.csv"),
            f"{TABLES}/performance.csv", "tampered", "output", f"{TABLES}/f1.csv",
        ),
        "figure": (
            lambda tree: shutil.copy(tree / f"{PICTURES}/accuracy.pdf", tree / f"{PICTURES}/bias.pdf"),
            f"{PICTURES}/bias.pdf", "tampered", "output", f"{PICTURES}/accuracy.pdf",
        ),
        "deleted": (
            lambda tree: (tree / f"{PICTURES}/consistency.pdf").unlink(),
            f"{PICTURES}/consistency.pdf", "missing", "does not exist", f"{PICTURES}/consistency.csv",
        ),
        "extra": (
            lambda tree: shutil.copy(tree / f"{PICTURES}/accuracy.pdf", tree / f"{PICTURES}/mine.pdf"),
            f"{PICTURES}/mine.pdf", "orphan", "no rule", f"{PICTURES}/accuracy.pdf",
        ),
        "hidden": (
            lambda tree: (tree / f"{PICTURES}/.mine.csv").write_text("x"),
            f"{PICTURES}/.mine.csv", "orphan", "no rule", f"{PICTURES}/accuracy.pdf",
        ),
        "dangling": (
            lambda tree: (tree / f"{PICTURES}/nothing.pdf").symlink_to("nowhere"),
            f"{PICTURES}/nothing.pdf", "orphan", "no rule", f"{PICTURES}/accuracy.pdf",
        ),
    },
    {
        "module": (
            lambda tree: edit_code(tree / "scripts/winopron/figures.py"),
            f"{PICTURES}/accuracy.pdf", "stale", "module scripts/winopron/figures.py", f"{WINOPRON}/overlap.csv",
        ),
        "shard": (
            lambda tree: shutil.copy(
                tree / f"{SCORES}/tiny-llama/1of1.parquet", tree / f"{SCORES}/tiny-opt/1of1.parquet"
            ),
            f"{SCORES}/tiny-opt/1of1.parquet", "mixed", "score file's model", f"{SCORES}/tiny-llama/1of1.parquet",
        ),
        "record": (
            lambda tree: (tree / "results/provenance/winopron_table" / RECORD.format("consistency")).unlink(),
            f"{TABLES}/consistency.csv", "missing", "did not finish", f"{TABLES}/f1.csv",
        ),
        "malformed": (
            lambda tree: forge(
                tree, "winopron_table", lambda record: record.pop("packages"), RECORD.format("performance")
            ),
            f"{TABLES}/performance.csv", "tampered", "cannot be used: it lacks the key 'packages'", f"{TABLES}/f1.csv",
        ),
        "format": (
            lambda tree: forge(
                tree, "winopron_table", lambda record: record.update(format=99), RECORD.format("precision")
            ),
            f"{TABLES}/precision.csv", "tampered", "cannot be used: it is of format 99, not 3", f"{TABLES}/f1.csv",
        ),
    },
    {
        "template": (
            lambda tree: replace(tree / "templates/ruff/context.tsv", "weather", "Weather"),
            "results/ruff/instances/replica/context_free.parquet", "stale", "input templates/ruff/context.tsv",
            f"{WINOPRON}/instances/replica/double.parquet",
        ),
        "weights": (
            lambda tree: _other_weights(tree),
            f"{SCORES}/tiny-opt/1of1.parquet", "stale", "weights tiny-opt", f"{SCORES}/tiny-llama.parquet",
        ),
    },
    {
        "package": (
            edit_lock,
            ESTIMATES, "stale", "package scipy", f"{WINOPRON}/instances/replica/double.parquet",
        ),
        "parameter": (
            lambda tree: edit_draws(tree),
            f"{WINOPRON}/overlap.csv", "stale", "parameter draws", f"{SCORES}/tiny-bert.parquet",
        ),
    },
)  # fmt: skip
TAMPERINGS = {name: tampering for done in ROUNDS for name, tampering in done.items()}


@pytest.fixture(scope="module")
def audited(finished, tmp_path_factory):
    """Return what the audit says after a round of tamperings; each round is audited once."""
    told = {}

    def audit_round(name):
        number, done = next((number, done) for number, done in enumerate(ROUNDS) if name in done)
        if number not in told:
            tree = copied(finished, tmp_path_factory.mktemp("round") / "copy")
            for tamper, *_ in done.values():
                tamper(tree)
            told[number] = audit(tree)
        return told[number]

    return audit_round


def edit_draws(tree):
    path = tree / "config/test.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("draws: 200", "draws: 300"), encoding="utf-8")


def forge(tree, rule, change, name):
    """Change a record and give it the checksum of what it says now, as whoever forges one does."""
    path = tree / "results/provenance" / rule / name
    record = json.loads(path.read_text(encoding="utf-8"))
    change(record)
    files.write_json(path, record | {"checksum": job_records.checksum(record)})


def _other_weights(tree):
    """Change the weights under the name that the registry gives them, which nothing else of the workflow sees."""
    flip(tree / "zoo/tiny-opt/model.safetensors")


def test_a_copy_with_fresh_times_and_without_snakemakes_notes_is_current(finished, tmp_path):
    tree = copied(finished, tmp_path / "copy", copy_function=shutil.copy)
    status, printed = audit(tree)
    assert status == 0, printed
    assert re.fullmatch(r"(\d+) files: \1 current\n", printed), printed


def test_a_copy_of_results_alone_is_current(finished, tmp_path):
    shutil.copytree(finished.folder / "results", tmp_path / "results")
    overlay = tmp_path / "overlay.yaml"
    text = (finished.folder / "config/test.yaml").read_text()
    overlay.write_text(text.replace("registry: zoo", f"registry: {finished.folder}/zoo"))
    status, printed = audit(tmp_path, overlay=overlay, code=finished.folder)
    assert status == 0, printed


TAMPERED = {
    "byte": "a byte of a score file is flipped",
    "cell": "a cell of a table of results is edited",
    "figure": "a figure is replaced by another one",
    "module": "the code of an analysis is edited",
    "package": "another version stands in the lock file",
    "parameter": "a setting of the configuration is changed",
    "template": "a sentence of the templates is changed",
    "shard": "a model's score file is replaced by another model's",
    "weights": "a checkpoint is overwritten in its folder",
    "deleted": "a figure is deleted",
    "extra": "a file that no rule makes lies among the results",
    "record": "a record is deleted",
    "hidden": "a hidden file lies among the results",
    "dangling": "a link to nothing lies among the results",
    "malformed": "a record lacks a part, with a fresh checksum",
    "format": "a record claims another format",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.attack(done, "`{2}`: {3}".format(*TAMPERINGS[name])))
        for name, done in TAMPERED.items()
    ],
)
def test_every_tampering_is_found_and_named(audited, name):
    _, path, verdict, told, untouched = TAMPERINGS[name]
    status, printed = audited(name)
    assert status == 1
    block = re.search(rf"^{verdict} +{re.escape(path)}\n((?: {{10}}.+\n)+)", printed, flags=re.MULTILINE)
    assert block, printed
    assert told in block[1]
    if verdict in ("tampered", "stale", "mixed") and "cannot be used" not in told:
        assert re.search(r"was \S+.*, now \S+", block[1]), block[1]
    assert not re.search(rf" {re.escape(untouched)}$", printed, flags=re.MULTILINE), printed


@pytest.mark.attack("a package is upgraded and the lock file is not", "`stale`: installed package")
def test_an_upgraded_package_is_stale(tree, tmp_path, monkeypatch):
    """What is installed is compared, not the lock alone; here another version stands before the one that is used."""
    info = tmp_path / "upgraded/scipy-99.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: scipy\nVersion: 99.0\n")
    status, printed = audit(tree, code=f"{tree}{os.pathsep}{tmp_path / 'upgraded'}")
    assert status == 1
    block = re.search(rf"^stale +{ESTIMATES}\n((?: {{10}}.+\n)+)", printed, flags=re.MULTILINE)
    assert re.search(r"installed package scipy: was \S+, now 99.0", block[1]), printed
    assert f"{WINOPRON}/instances/replica/double.parquet" not in printed


@pytest.mark.attack(
    "a result is changed, and every record that follows with it",
    "`--against` the published list: changed, the record says something else",
)
def test_a_forged_run_is_told_by_what_was_published(tree, tmp_path):
    """The audit alone finds accidents; a result that was changed with its records agrees with them."""
    if PAPER != "paper":
        pytest.skip("latexmk is not installed: there is no paper and no manifest")
    published = shutil.copy(tree / "results/paper/manifest.sha256", tmp_path / "published.sha256")
    status, printed = audit(tree, "--against", published)
    assert status == 0, printed
    assert re.search(rf"^against \S+ \(SHA-256 {files.sha256(published)}\): \d+ files and records, 0 differences$",
                     printed, flags=re.MULTILINE), printed  # fmt: skip
    table = f"{TABLES}/performance.csv"
    edit_cell(tree / table)
    new = files.sha256(tree / table)
    forge(tree, "winopron_table", lambda record: record["outputs"].update({table: new}), RECORD.format("performance"))
    for path in _records(tree):
        rule, name = path.split("/")[2:]
        if table in json.loads((tree / path).read_text())["inputs"]:
            forge(tree, rule, lambda record: record["inputs"].update({table: new}), name)
    status, printed = audit(tree)
    assert status == 0, printed
    status, printed = audit(tree, "--against", published)
    assert status == 1
    assert re.search(rf"^changed +{re.escape(table)}: was \w{{16}}, now {new[:16]}$", printed, flags=re.MULTILINE), (
        printed
    )
    assert f"winopron_table/{RECORD.format('performance')}: the record says something else" in printed
    assert audit(tree, "--against", published, "figure 1")[0] == 2
    assert audit(tree, "--against", tree / "config.yaml")[0] == 2


@pytest.mark.parametrize("kept", [r"\w{64}  results/winopron/figures/replica/accuracy\.pdf", r"(?!#record).*"])
def test_a_cut_list_is_called_short(finished, asked, tmp_path, kept):
    if PAPER != "paper":
        pytest.skip("latexmk is not installed: there is no paper and no manifest")
    lines = (finished.folder / "results/paper/manifest.sha256").read_text().splitlines()
    short = [line for line in lines if re.fullmatch(kept, line)]
    (tmp_path / "short").write_text("\n".join(short))
    lacking = sum(not line.startswith("# ") for line in set(lines) - set(short))
    status, printed = asked("--against", tmp_path / "short")
    assert status == 1
    assert re.search(rf"short is short: it lacks {lacking} results or records behind this run\n", printed), printed
    assert printed.count("unlisted ") == lacking and f", {lacking} differences\n" in printed
    assert asked("--against", "results/paper/manifest.sha256")[0] == 0


def test_the_paper_ends_with_the_digest_of_its_manifest(finished):
    if PAPER != "paper":
        pytest.skip("latexmk is not installed: there is no paper and no manifest")
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


def test_results_that_were_touched_rerun_nothing_and_stay_stale(tree, finished):
    """As docs/audit.md says of edits whose results are to be kept."""
    shutil.copytree(finished.folder / ".snakemake", tree / ".snakemake")
    copy = type(finished).of(tree)
    module, table = "scripts/winopron/tables.py", f"{TABLES}/performance.csv"
    edit_code(tree / module)
    assert copy.planned(*TARGETS, "--rerun-triggers", "mtime", "input") == {}
    assert "winopron_table" in copy.planned(*TARGETS)
    done = copy.snakemake("--touch", *TARGETS)
    assert done.returncode == 0, done.stdout
    assert copy.planned(*TARGETS) == {}
    status, bad, reasons = verdicts(tree)
    assert (status, bad[table]) == (1, "stale")
    assert [reason["name"] for reason in reasons[table] if reason["kind"] == "module"] == [module]
    done = copy.snakemake("--forcerun", "paper_provenance", "--", "paper_provenance")
    assert done.returncode != 0
    assert f"module {module}: was" in done.stdout


@pytest.mark.attack("the lock file is deleted", "the audit and every job stop: no version can be checked")
def test_a_lock_file_that_is_away_is_named_by_the_audit_and_by_jobs(tree, finished):
    (tree / "requirements.lock").unlink()
    told = "Error: requirements.lock: no such file, so no version of a package can be checked; restore it\n"
    assert audit(tree) == (2, told)
    done = (
        type(finished).of(tree).snakemake("--forcerun", "winopron_table_counts", "--", f"{WINOPRON}/tables/counts.csv")
    )
    assert done.returncode != 0 and told in done.stdout


@pytest.mark.attack("a table is edited and what follows from it is left", "`stale`: all that was made from it")
def test_what_follows_from_a_tampered_file_is_not_current(tree):
    edit_cell(tree / ESTIMATES)
    status, bad, reasons = verdicts(tree)
    assert status == 1
    assert bad[NUMBERS] == bad["results/paper/figures/headlines.pdf"] == "stale"
    assert bad["results/paper/sections/winopron.tex"] == bad["results/paper/main.pdf"] == "stale"
    assert f"{WINOPRON}/overlap.csv" not in bad
    found = reasons[NUMBERS][0]
    assert found["kind"] == "input"
    assert found["new"] == files.sha256(tree / ESTIMATES)


@pytest.mark.attack("a model's pinned revision is changed, or taken away", "`stale`: revision; `unpinned`")
def test_a_revision_that_changed_and_a_model_without_one(finished, tmp_path, monkeypatch):
    """The encoder comes from a local hub cache, where revisions are real."""
    tree = copied(finished, tmp_path / "copy")
    shutil.copytree(finished.folder / ".snakemake", tree / ".snakemake")
    first, second = "a" * 40, "b" * 40
    repository = tmp_path / "hub/models--zoo--tiny-bert"
    shutil.copytree(tree / "zoo/tiny-bert", repository / "snapshots" / first)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(first)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    registry = tree / "zoo/models.yaml"
    local = re.search(r"source:\n +path: \S+/tiny-bert\n", registry.read_text())[0]
    target = f"{SCORES}/tiny-bert/1of1.parquet"

    def score(old, new):
        replace(registry, old, new)
        done = type(finished).snakemake(type("Copy", (), {"folder": tree}), target)
        assert done.returncode == 0, done.stdout

    pinned = f"source: {{hub: zoo/tiny-bert, revision: {first}}}\n"
    score(local, pinned)
    assert audit(tree, target)[0] == 0
    replace(registry, first, second)
    status, printed = audit(tree, target)
    assert status == 1
    assert f"revision entry.source.revision: was {first}, now {second}" in printed
    score(second, "null")
    status, printed = audit(tree, target)
    assert status == 1
    assert re.search(rf"^unpinned +{target}\n +source zoo/tiny-bert has no fixed revision \(was {first}\)", printed,
                     flags=re.MULTILINE), printed  # fmt: skip


def test_a_figure_leads_back_to_templates_and_weights(finished):
    if PAPER == "paper":
        status, printed = audit(finished.folder, "results/paper/main.pdf")
        assert status == 0
        assert "rule paper_pdf" in printed
    status, printed = audit(finished.folder, "figure 1", "-v")
    assert status == 0, printed
    for word in ("results/ruff/figures/", "rule score", "weights ", "current"):
        assert word in printed
    # The answer first; what lies between only where it is asked for.
    status, short = audit(finished.folder, "figure 1")
    title, model, *_ = short.splitlines()
    assert title.startswith("figure 1 (") and re.match(r"model tiny-\w+, revision none, weights \w{16}, ", model)
    assert "rule score" not in short and printed.startswith(short.rpartition("\n")[0][:200])
    assert len(short.splitlines()) < 40
    status, printed = audit(finished.folder, f"{PICTURES}/consistency.pdf")
    assert status == 0 and "templates/winopron/sentences.tsv" in printed, printed


def test_a_number_and_a_cell_lead_back_to_one_model_and_template_rows(finished):
    name = FULL.format("tiny-opt")
    status, printed = audit(finished.folder, name, "-v")
    assert status == 0, printed
    assert re.search(rf"number {name} = \d+\.\d, from estimates.csv .*model=tiny-opt", printed)
    assert f"{WINOPRON}/scores/replica/tiny-opt.parquet" in printed.split(" files:")[0]
    assert "tiny-llama.parquet" not in printed
    assert re.search(r"templates/winopron/sentences.tsv: lines [\d, -]+", printed)
    cell = "entities=double,model=tiny-opt,scoring=full likelihood,reading=corrected,case=,pronoun_set=,metric=accuracy"
    status, printed = audit(finished.folder, f"{ESTIMATES}:{cell}:value", "--json")
    assert status == 0
    found = json.loads(printed[printed.index("{") :])
    assert found["found"][0]["rows"][0]["model"] == "tiny-opt"
    assert all(record["checksum"] for record in found["records"].values())


def test_unknown_targets_are_refused_with_a_suggestion(asked):
    status, printed = asked(FULL.format("tiny-opd"))
    assert status == 2
    assert re.search(r"^Error: .*did you mean 'winopron\.", printed, flags=re.MULTILINE)


def test_impact_names_what_would_move_and_agrees_with_snakemake(tree):
    _, printed = audit(tree, "--impact", "tiny-opt", "--json")
    found = json.loads(printed[printed.index("{") :])
    assert FULL.format("tiny-opt") in found["numbers"]
    assert not {FULL.format("tiny-bert"), "winopron.replica.size.double.sentences"} & set(found["numbers"])
    assert {"score", "winopron_predictions", "winopron_estimates"} <= {job["rule"] for job in found["reruns"]}
    _, printed = audit(tree, "--impact", "scripts/winopron/tables.py", "--json")
    expected = {job["rule"] for job in json.loads(printed[printed.index("{") :])["reruns"]}
    edit_code(tree / "scripts/winopron/tables.py")
    _, bad, _ = verdicts(tree)
    records = {path: json.loads((tree / path).read_text()) for path in _records(tree)}
    assert {records[p]["rule"] for p in records if set(records[p]["outputs"]) & bad.keys()} == expected
    assert audit(tree, "--impact", "scripts/coreference_training/train_coreference.py")[0] == 2


def _records(tree):
    return [path.relative_to(tree).as_posix() for path in (tree / "results/provenance").glob("[!.]*/*.json")]


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
    assert len(shown) == captions and links == set(shown.result) | set(listed[listed.kind == "number"].result)
    for row in listed.itertuples():
        assert files.sha256(finished.folder / row.file) == row.sha256, row.file
        assert row.rule and row.commit, row.file
        assert row.kind == "number" or json.loads(row.code), row.file
    # A link ends at the file's entry, which has its digest.
    entries = [line for line in appendix.splitlines() if line.startswith(r"\hypertarget")]
    for row in listed[listed.result != ""].itertuples():
        (entry,) = [line for line in entries if rf"\hypertarget{{{row.result}}}" in line]
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
def test_a_paper_of_a_table_edited_by_hand_is_refused_or_marked(finished, tmp_path):
    tree = copied(finished, tmp_path / "copy", copy_function=shutil.copy2)
    shutil.copytree(finished.folder / ".snakemake", tree / ".snakemake")

    def run():
        return type(finished).snakemake(type("Copy", (), {"folder": tree}), "paper_provenance")

    table = tree / f"{WINOPRON}/tables/counts.tex"
    replace(table, r"\bottomrule", r"\bottomrule ")
    done = run()
    assert done.returncode != 0
    assert f"{WINOPRON}/tables/counts.tex is tampered (output" in done.stdout
    assert "paper.allow_stale: true" in done.stdout
    assert not (tree / "results/paper/sections/currency.tex").exists()
    replace(tree / "config/test.yaml", "ruff:\n", "paper: {allow_stale: true}\nruff:\n")
    done = run()
    assert done.returncode == 0, done.stdout
    assert "1 tampered" in (tree / "results/paper/sections/currency.tex").read_text()


def test_the_rule_audits_and_nothing_reruns(finished):
    if PAPER != "paper":
        pytest.skip("latexmk is not installed: no PDF")
    done = finished.snakemake("audit")
    assert done.returncode == 0, done.stdout
    assert re.search(r"(\d+) files: \1 current", done.stdout)
    assert finished.planned("paper", "figures", "tables") == {}
    extra = finished.folder / "results/ruff/mine.csv"
    extra.write_text("x\n")
    try:
        done = finished.snakemake("audit")
    finally:
        extra.unlink()
    assert done.returncode != 0
    assert re.search(r"orphan +results/ruff/mine.csv", done.stdout)


TRACES = {
    # What is asked for; what the answer must hold; what it must not hold.
    FULL.format("tiny-opt"): (
        [r"number winopron\S+ likelihood.corrected.value = \d", r"\n12 rows of \S+/selected\.parquet, made from\n",
         r"\n  templates/winopron/sentences\.tsv: lines [\d, -]+\n", "model tiny-opt, .*weights "],
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


def numbered(finished, label):
    """Return what the paper calls the figure or table whose label ends so, such as ``table 4``."""
    listed = files.read_csv(finished.folder / trace.PAPER)
    return listed[listed.result.fillna("").str.endswith(label)].shown.iloc[0].lower()


def test_the_examples_of_the_help_work(finished, asked):
    _, printed = audit(finished.folder, "--help")
    examples = re.findall(r"^ +python -m scripts\.audit +(.+?)(?:  .*)?$", printed, flags=re.MULTILINE)
    assert len(examples) >= 6
    for example in examples:
        if example != "all results":
            status, printed = asked(*shlex.split(example))
            assert status == 0, printed


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("compute:1:x", "name a cell by its file"),
        ("winopron-counts:1:Case", f"as the file counts it: {WINOPRON}/tables/counts.csv:ROW:COLUMN"),
        (f"{TABLES}/performance.csv:1:x", "performance.csv: has no column 'x'"),
        (f"{TABLES}/performance.csv:999:F1", "'999' chooses 0 rows"),
        (f"{TABLES}/none.csv:1:x", "no such file"),
        (f"{TABLES}/performance.csv:1", "write FILE.csv:ROW:COLUMN"),
        ("--impact=templates/ruff/task.tsv:99999", "line 99999 is not a data row; data rows are the lines 3-182"),
    ],
)
def test_what_is_not_there_is_an_error(finished, asked, what, told):
    if what.startswith(("compute", "winopron-counts")):
        label, colon, cell = what.partition(":")
        what = f"{numbered(finished, label)}{colon}{cell}"
    status, printed = asked(what)
    assert status == 2
    assert told in printed


def test_sentences_of_winopron_move_what_was_not_prompted_too(finished, asked):
    """Prompts have a sample of its sentences, models that resolve by likelihood another one, and systems have all."""
    _, printed = asked(FULL.format("tiny-bert"))
    counted = re.findall(r"^(\d+) rows of (\S+),", printed, flags=re.MULTILINE)
    selected = "results/winopron/instances/replica/selected.parquet"
    assert counted == [(str(len(files.read_parquet(finished.folder / selected))), selected)]
    prompts = files.read_parquet(finished.folder / "results/winopron/prompts/replica.parquet")
    instances = files.read_parquet(finished.folder / "results/winopron/instances/replica/double.parquet")
    alone = instances[~instances.instance_id.isin(prompts.instance_id)].template_row.iloc[0]
    _, printed = asked("--impact", f"templates/winopron/sentences.tsv:{alone}", "--json")
    moved = json.loads(printed)
    assert "results/winopron/figures/replica/accuracy.pdf" in " ".join(moved["figures"])
    assert any(
        name.startswith("winopron.replica.accuracy.double.") and ".heuristic." in name for name in moved["numbers"]
    )


def test_the_impact_of_a_line_is_what_was_made_from_it(finished, asked):
    def impact(what):
        _, printed = asked("--impact", what, "--json")
        return json.loads(printed[printed.index("{") :])

    sentences, double = "templates/winopron/sentences.tsv", f"{WINOPRON}/instances/replica/double.parquet"
    made = files.read_parquet(finished.folder / double)
    used = files.read_parquet(finished.folder / f"{WINOPRON}/instances/replica/selected.parquet").template_row
    unused = (set(made.template_row) - set(used)).pop()
    whole, line, other = (impact(f"{sentences}{end}") for end in ("", f":{used.iloc[0]}", f":{unused}"))
    runs = [{output for job in found["reruns"] for output in job["outputs"]} for found in (whole, line, other)]
    assert runs[0] == runs[1] == runs[2]
    assert line["made_from"][double] == (made.template_row == used.iloc[0]).sum()
    assert set(other["numbers"]) < set(line["numbers"]) <= set(whole["numbers"])
    assert FULL.format("tiny-opt") in line["numbers"] and FULL.format("tiny-opt") not in other["numbers"]
    # Of the pronoun sets, thon is one of MISGENDERED alone.
    rules = {job["rule"] for job in impact("templates/pronouns.tsv:7")["reruns"]}
    assert "misgendered_sample" in rules and not {"ruff_sample", "winopron_instances"} & rules


def test_a_plan_of_another_configuration_changes_no_result(tree, finished):
    shutil.copytree(finished.folder / ".snakemake", tree / ".snakemake")
    overlay = (tree / "config/test.yaml").read_text(encoding="utf-8")
    overlay = overlay.replace("sample_size: 12", "sample_size: 32").replace("dates: 3", "dates: 4")
    (tree / "config/other.yaml").write_text(re.sub("^models: .*", "models: [tiny-bert]", overlay, flags=re.MULTILINE))
    copy = type(finished).of(tree)
    kept = {path: files.sha256(path) for path in sorted((tree / "results").rglob("*")) if path.is_file()}
    done = copy.snakemake("plan", overlay="config/other.yaml")
    assert done.returncode == 0, done.stdout
    assert set(files.read_csv(tree / "results/plan.csv").query("rule == 'score'").model) == {"tiny-bert"}
    # Snakemake itself says that there is nothing to be done, and so does the audit.
    assert copy.planned(PAPER, "figures", "tables") == {}
    status, printed = audit(tree)
    assert status == 0, printed
    assert {path: files.sha256(path) for path in kept} == kept


def test_the_commands_that_the_audit_names_make_the_run_current(tree, finished):
    shutil.copytree(finished.folder / ".snakemake", tree / ".snakemake")
    for name in ("record", "cell", "deleted", "byte"):
        TAMPERINGS[name][0](tree)
    status, printed = audit(tree)
    assert status == 1
    commands = re.findall(r", run: (.+)$", printed, flags=re.MULTILINE)
    assert commands, printed
    for command in commands:
        done = forks.run_typed(command, tree)
        assert done.returncode == 0, done.stdout
    status, printed = audit(tree)
    assert status == 0, printed


@pytest.mark.attack("a run is audited without the overlay that it was made with", "the audit asks for it")
def test_a_forgotten_overlay_is_asked_for(tree):
    question = "was the run made with"
    (tree / "config/mine.yaml").write_text("counter_gap: {alpha: 0.02}\n", encoding="utf-8")
    status, printed = audit(tree, overlay="config/mine.yaml")
    assert status == 1
    assert f"{question} other overlays than config/mine.yaml? Name it: --configfile=FILE" in printed
    replace(tree / "config/test.yaml", "draws: 200", "draws: 300")
    assert question not in audit(tree)[1]


def test_a_module_that_is_no_python_is_named(tree):
    for module in ("scripts/winopron/tables.py", "scripts/core/data/upstream.py"):
        text = (tree / module).read_text(encoding="utf-8")
        (tree / module).write_text(f"{text}def f(:\n", encoding="utf-8")
        status, printed = audit(tree)
        (tree / module).write_text(text, encoding="utf-8")
        assert status == 2
        assert f"{module}, line {len(text.splitlines()) + 1}: invalid syntax" in printed


def test_a_run_outside_the_repository_is_current_and_can_be_packed(finished, tmp_path):
    """Jobs that ran with ``--directory`` name files of the repository as jobs in it do."""
    run, sentences = tmp_path / "run", "templates/winopron/sentences.tsv"
    for name in ("results", "zoo"):
        shutil.copytree(finished.folder / name, run / name)
    (run / "config").mkdir()
    shutil.copy2(finished.folder / "config/test.yaml", run / "config/test.yaml")
    outside = type("Copy", (), {"folder": run})
    snakefile = ["--snakefile", str(finished.folder / "Snakefile"), "--directory", str(run)]
    # All of one study is made here, and the paper anew; the rest was made in the repository.
    done = type(finished).snakemake(outside, *snakefile, "--forcerun", "winopron_instances", "--", PAPER)
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
    assert audit(run, "--impact", f"{sentences}:5", code=finished.folder)[0] == 0
    if PAPER == "paper":
        done = type(finished).snakemake(outside, *snakefile, "crate")
        assert done.returncode == 0, done.stdout
        with zipfile.ZipFile(run / "results/crate/run.crate.zip") as archive:
            assert sentences in archive.namelist()
            graph = {e["@id"]: e for e in json.loads(archive.read("ro-crate-metadata.json"))["@graph"]}
        assert graph[sentences]["sha256"] == files.sha256(finished.folder / sentences)
        assert {"@id": sentences} in graph["#run"]["object"]
