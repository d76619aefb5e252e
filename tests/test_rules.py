"""The conventions that make the house readable: one name finds the rule, its script, its log, benchmark and output.

The rules are those of Snakemake itself, after all rules files were read.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.core.provenance import closure

ROOT = Path(__file__).parents[1]
# A process of its own, because Snakemake changes the process that reads a workflow.
READ = """
import json, sys
from pathlib import Path
from snakemake.io import is_flagged
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, keep_logger=False)) as api:
    workflow = api.workflow(
        resource_settings=ResourceSettings(cores=1, nodes=1),
        config_settings=ConfigSettings(configfiles=[Path(path) for path in sys.argv[2:]]),
        snakefile=Path(sys.argv[1]) / "Snakefile",
    )._workflow
    studies = workflow.globals["STUDIES"]
    json.dump({
        "studies": {
            name: {"figures": study.figures, "tables": study.tables} for name, study in studies.items()
        },
        "rules": {
            rule.name: {
                "script": rule.script and str(rule.script),
                "log": [str(path) for path in rule.log],
                "benchmark": rule.benchmark and str(rule.benchmark),
                "output": [str(path) for path in rule.output],
                "arguments": [
                    name for given in (rule.input, rule.output, rule.params)
                    for name, _ in given.items() if not name.startswith("_")
                ],
                # Names that depend on wildcards.
                "more": any(is_flagged(path, "unpack") for path in rule.input),
                "conda": bool(rule.conda_env),
                "code": dict(rule.params.items()).get("_code"),
                "local": rule.name in workflow._localrules,
                "group": rule._group,
                "gpu": "gpu" in rule.resources,
            }
            for rule in workflow.rules
        },
    }, sys.stdout)
"""
IMPORTS = (ast.Import, ast.ImportFrom)
ORDER = [
    "name", "input", "output", "log", "benchmark", "wildcard_constraints", "priority", "group", "conda", "threads",
    "resources", "params", "localrule", "script",
]  # fmt: skip
# What a script other than the rule's namesake draws.
DRAWN_BY_ANOTHER = {
    "train_demo_coreference": "train_coreference",
    "card_scorecard": "paper_figure",
    "fetch_encoder": "fetch_model",
    "fetch_system": "fetch_model",
}
# Jobs of their own on a cluster, though no GPU is asked for.
ALONE = {
    "bench_prompting", "bench_scoring", "coreference_augmented", "coreference_corpus", "coreference_names", "crate",
    "tag_corpus", "train_coreference", "train_demo_coreference",
}  # fmt: skip
SHARED = [
    path for path in sorted((ROOT / "rules").glob("*.smk"))
    if not path.name.startswith(("ruff", "counter_gap", "misgendered", "underspecification", "winopron"))
]  # fmt: skip


def read(*overlays):
    command = [sys.executable, "-c", READ, str(ROOT), *map(str, overlays)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    # Chains of thought, which the default run has not, have scripts of their own.
    overlay = tmp_path_factory.mktemp("overlay") / "more.yaml"
    overlay.write_text(
        "models: [smollm2-135m-instruct, minilm-l6-mlm, opt-125m]\n"
        "ruff: {prompting: {chain_of_thought: {models: [smollm2-135m-instruct]}}}\n",
        encoding="utf-8",
    )
    return read(overlay)


@pytest.fixture(scope="module")
def scripted(found):
    return {name: rule for name, rule in found["rules"].items() if rule["script"]}


def test_every_rule_has_script_output_log_and_environment(scripted):
    assert len(scripted) > 90
    for name, rule in scripted.items():
        # What only reports has no output, so that it runs whenever it is asked for.
        assert bool(rule["output"]) == (name != "audit"), name
        assert rule["log"] and rule["conda"], name
        assert (ROOT / "rules" / rule["script"]).resolve().is_file(), name


def functions(rule):
    """Return the functions of the module that a rule runs, by name; a second name of one counts as well."""
    tree = ast.parse((ROOT / "rules" / rule["script"]).read_text(encoding="utf-8"))
    named = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.value, "id", None) in named:
            named |= {target.id: named[node.value.id] for target in node.targets}
    return named


def test_scripts_take_what_their_rules_give(scripted):
    """The names of a rule's inputs, outputs and params are the arguments of its function."""
    for name, rule in scripted.items():
        known = functions(rule)
        main = known.get("main") or known[name.removeprefix(f"{Path(rule['script']).parent.name}_")]
        accepted = {argument.arg for argument in main.kwonlyargs}
        optional = {a.arg for a, default in zip(main.kwonlyargs, main.kw_defaults, strict=True) if default is not None}
        assert set(rule["arguments"]) <= accepted, name
        if not rule["more"]:
            assert accepted - optional - {"threads"} <= set(rule["arguments"]), name


def test_script_log_and_benchmark_have_the_name_of_the_rule(scripted):
    for name, rule in scripted.items():
        script = Path(rule["script"])
        wing, stem = script.parent.name, script.stem
        if "main" not in functions(rule):
            assert name.removeprefix(f"{wing}_") in functions(rule)
        elif name in DRAWN_BY_ANOTHER:
            assert stem == DRAWN_BY_ANOTHER[name]
        else:
            assert name in (stem, f"{wing}_{stem}")
        for path in rule["log"]:
            assert path.startswith((f"results/logs/{name}/", f"results/logs/{name}.")), name
        if rule["benchmark"]:
            assert rule["benchmark"].startswith(f"results/benchmarks/{name}/")


def test_figures_and_tables_are_made_by_rules_of_their_study(found):
    """A declared figure is the output of a rule that ``grep -rn <study>_figures rules/`` finds."""
    for study, kinds in found["studies"].items():
        outputs = {path: name for name, rule in found["rules"].items() for path in rule["output"]}
        patterns = {re.compile(re.sub(r"\\{\w+.*?\\}", ".+", re.escape(path))): name for path, name in outputs.items()}
        for kind, stems in kinds.items():
            assert stems, study
            for stem in stems:
                assert stem.startswith(f"results/{study}/{kind}/"), stem
                made = {name for pattern, name in patterns.items() if pattern.fullmatch(f"{stem}.csv")}
                assert made and all(name.startswith(f"{study}_") for name in made), stem


def test_rules_carry_the_digests_of_their_code(scripted):
    for name, rule in scripted.items():
        script = rule["script"].removeprefix("../")
        assert rule["code"] == closure.digests(script, ROOT), name
        assert script in rule["code"]


def test_every_script_of_a_study_has_its_rule(found):
    used = {Path(rule["script"]).as_posix().removeprefix("../") for rule in found["rules"].values() if rule["script"]}
    for study in found["studies"]:
        for path in (ROOT / "scripts" / study).glob("*.py"):
            relative = path.relative_to(ROOT).as_posix()
            # A study may have modules without rules beside its scripts.
            if "run_named()" not in path.read_text(encoding="utf-8") and "run(main)" not in path.read_text(
                encoding="utf-8"
            ):
                continue
            assert relative in used, relative
            known = functions({"script": f"../{relative}"})
            if "main" not in known:
                # What a rule runs takes arguments by name alone.
                run = {
                    name for name, given in known.items() if given.kwonlyargs and not (given.args or given.posonlyargs)
                }
                assert {f"{study}_{name}" for name in run} <= found["rules"].keys()


def test_only_what_is_heavy_or_local_travels_alone(scripted):
    """On a cluster small rules travel in two groups; what needs a GPU has jobs of its own."""
    for name, rule in scripted.items():
        if rule["local"] or name in ALONE:
            assert rule["group"] is None, name
        elif rule["gpu"]:
            assert rule["group"] in (None, "distributions_{model}"), name
        else:
            assert rule["group"] in ("instances", "analyses"), name


def bodies():
    """Return the text of every rule and its indentation."""
    written = []
    for path in [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]:
        text = path.read_text(encoding="utf-8")
        pattern = r"^( *)rule ?(\w*):\n((?:\1    .*\n|\n)+)"
        for number, match in enumerate(re.finditer(pattern, text, flags=re.MULTILINE)):
            written.append((match[2] or f"{path.stem}-{number}", match[3], len(match[1])))
    return written


def test_directives_are_in_order_and_repeat_no_default():
    defaults = yaml.safe_load((ROOT / "slurm/profile.yaml").read_text(encoding="utf-8"))["default-resources"]
    repeated = [
        "threads: 1\n",
        *(f"{key}=growing({defaults[key].split()[0]})," for key in ("mem_mb", "runtime")),
        "_code=",
    ]
    assert len(bodies()) > 100
    for name, body, indent in bodies():
        directives = re.findall(rf"^ {{{indent + 4}}}(\w+):", body, flags=re.MULTILINE)
        known = [directive for directive in directives if directive in ORDER]
        assert known == sorted(known, key=ORDER.index), name
        assert not [default for default in repeated if default in body], name
        # A retry on a cluster asks for more.
        assert not re.search(r"^ +(mem_mb|runtime)=[0-9A-Z]", body, flags=re.MULTILINE), f"{name}: write growing(...)"


def test_shared_floors_name_no_study(found):
    studies = re.compile(r"\b(" + "|".join(found["studies"]) + r")(?=[_./\"'\s{}])", flags=re.IGNORECASE)
    assert len(SHARED) >= 12
    for path in SHARED:
        text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        assert not studies.findall(text), path
    snakefile = re.sub(r"#.*", "", (ROOT / "Snakefile").read_text(encoding="utf-8"))
    assert studies.findall(snakefile) == list(found["studies"])
    for path in ("paper/main.tex.j2", "config/schemas/config.schema.yaml"):
        assert not studies.findall((ROOT / path).read_text(encoding="utf-8")), path


def test_snakemake_is_not_patched_and_its_insides_are_not_used():
    """No attribute of another module or object that is private, and none that is replaced.

    scripts/core/workflow/slurm_executor.py is the one place that knows the inside of what it inherits.
    """
    for path in (ROOT / "scripts").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = {
            alias.asname or alias.name.partition(".")[0]
            for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }  # fmt: skip
        private = any("snakemake" in ast.unparse(node) for node in ast.walk(tree) if isinstance(node, IMPORTS))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                owner = ast.unparse(node.value)
                name = f"{path.relative_to(ROOT)}: {owner}.{node.attr}"
                assert not (private and re.match("_[a-z]", node.attr) and owner not in ("self", "cls")), name
                assert not (isinstance(node.ctx, ast.Store) and owner in imported - {"sys"}), name
                assert not (isinstance(node.ctx, ast.Store) and node.attr == "__class__"), name
    for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(workflow|snakemake|rule|small)(\.\w+)*\._|snakemake(\.\w+)+ = ", text), path


SHARED_CODE = (
    "core/provenance/audit", "core/workflow/preflight", "core/paper/sections", "core/models/costs",
    "core/models/registry", "core/paper/explorer", "core/paper/explorer_outputs", "core/provenance/origins",
    "core/provenance/trace", "core/workflow/studies", "explorer/explorer", "planning/plan", "paper/paper_source",
)  # fmt: skip


def test_shared_code_names_no_study(found):
    """In its code, that is; docstrings may give examples."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for path in SHARED_CODE:
        tree = ast.parse((ROOT / f"scripts/{path}.py").read_text(encoding="utf-8"))
        docstrings = {
            node.body[0].value for node in ast.walk(tree)
            if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
        }  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
                assert not [study for study in found["studies"] if study in node.value], (path, node.value)


def test_every_study_has_its_places(found):
    for study in found["studies"]:
        for place in (
            f"rules/{study}.smk", f"scripts/{study}", f"templates/{study}", f"paper/sections/{study}.tex.j2",
            f"config/schemas/studies/{study}.schema.yaml",
        ):  # fmt: skip
            assert (ROOT / place).exists(), place


def test_a_run_of_some_studies_has_the_rules_of_no_other(tmp_path):
    overlay = tmp_path / "some.yaml"
    overlay.write_text("studies: [underspecification, counter_gap]\n", encoding="utf-8")
    some = read(overlay)
    # In the order of the paper, whatever the order of the configuration.
    assert list(some["studies"]) == ["counter_gap", "underspecification"]
    assert not [name for name in some["rules"] if name.startswith("ruff") or name == "bench_scoring"]


def test_scripts_never_read_the_global_config():
    for path in (ROOT / "scripts").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "snakemake.config" not in text, path
        assert "load_yaml(" not in text or path.name in (
            "__main__.py",
            "cards.py",
            "compare.py",
            "config.py",
            "entries.py",
            "registry.py",
            "runs.py",
        ), path
