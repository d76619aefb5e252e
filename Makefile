# Two commands for users, each sufficient on a fresh machine: make paper, make test. Everything else is plain
# Snakemake in .venv (see README.md).

CORES ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
# Workflow tests side by side: each runs Snakemake with two cores, and models of up to 1.5 GB.
RUNS ?= $(shell echo $$(($(CORES) < 2 ? 2 : $(CORES) > 4 ? 4 : $(CORES))))
PYTHON ?= python3
export PYTHON
# Python compiles the project's modules once, not at every start.
unexport PYTHONDONTWRITEBYTECODE

# Each call of pytest stores how long every test took.
PYTEST = .venv/bin/pytest --junitxml=.durations/$@.xml

.PHONY: help paper quick test test-golden test-units test-workflow test-slurm nightly nightly-tests verdicts-check environment lock tex lint style types architectures golden verdicts mutants docs release
.DEFAULT_GOAL := help

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

environment: ## Create .venv from the lock file
	@bash envs/setup.sh

# Progress bars in a terminal; the limit on job starts keeps the scheduler from searching many times a second (docs/running.md).
RUN = .venv/bin/snakemake --cores $(CORES) --max-jobs-per-timespan 10000/10s $(if $(MAKE_TERMERR),--logger rich)

paper: environment ## Run the default workflow; leaves results/paper/main.pdf
	@if bash envs/tex.sh; then \
	    $(RUN) paper; \
	else \
	    $(RUN) figures tables paper_provenance && \
	    echo "All figures and tables are in results/; only the PDF is missing. Install TeX as said above and run: make paper" >&2; \
	    exit 1; \
	fi

architectures: environment ## Print how the engines score and prompt small models of architectures that no study uses
	.venv/bin/python -m tests.core.scoring.architectures

lock: ## Renew the lock files from the .in files: make lock, or make lock UPGRADE=1 for the newest versions these allow
	@bash envs/lock.sh $(if $(UPGRADE),--upgrade)

golden: environment ## Store anew what the tests compare results with, and print what differs from what was stored
	.venv/bin/python -m tests.golden $(if $(MODELS),--models $(MODELS))

verdicts: environment ## Simulate how often each finding's verdict is right; leaves docs/verdicts.csv and docs/verdicts.md
	OMP_NUM_THREADS=1 .venv/bin/python -m tests.verdicts

verdicts-check: environment
	OMP_NUM_THREADS=1 .venv/bin/python -m tests.verdicts --check

mutants: environment ## Break one line at a time in a copy and see which test notices: make mutants, or make mutants AREAS=core_data
	.venv/bin/python -m tests.mutants $(AREAS)

# Figures of the default run that README and the documentation show.
PICTURES = $(shell grep -o 'results/.*\.png' docs/gallery.md)

docs: environment ## Renew the pictures of the documentation from the default run and build its site; leaves .site/html/index.html
	.venv/bin/snakemake --cores $(CORES) instances $(PICTURES)
	cp $(PICTURES) docs/
	.venv/bin/python -c 'from scripts.core.workflow.environments import prepare; prepare("envs/docs.lock", ".venv-docs")'
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict --quiet

release: environment ## Pack source, locks, paper and crate into one file to upload; leaves release/pronoun-workflow-VERSION.tar.gz
	$(RUN) paper crate
	@bash scripts/release.sh

lint: style types ## Run the linters and check types

style: environment
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/snakefmt --check Snakefile rules
	.venv/bin/snakemake --lint

types: environment
	.venv/bin/python -m tests.types

quick: environment ## Run the golden files that need no download, then the tests without a model, browser or Snakemake run
	$(PYTEST) tests/golden -m "golden and not upstream and not nightly"
	.venv/bin/pytest -m "quick and not nightly" --numprocesses $(CORES) --dist loadscope

# Golden files first: they name the cell of a result that has changed.
test: style ## Run the linters and all tests that guard a change: golden files, units, workflow and, where it can be installed, Slurm
	@bash envs/tex.sh || true
	@bash envs/chromium.sh || true
	@rm -rf .durations
	$(MAKE) --no-print-directory test-golden
	@$(MAKE) --no-print-directory --jobs 3 test-units test-slurm-beside types-beside
	$(MAKE) --no-print-directory test-workflow
	@.venv/bin/python -m tests.durations

nightly: environment ## Run what seldom changes and takes long: tests marked nightly, mutants, simulated verdicts
	@bash envs/tex.sh || true
	@bash envs/chromium.sh || true
	@bash envs/slurm.sh || true
	@rm -rf .durations
	@$(MAKE) --no-print-directory --keep-going nightly-tests mutants verdicts-check; \
	    status=$$?; .venv/bin/python -m tests.durations; exit $$status

test-golden:
	$(PYTEST) tests/golden -m "golden and not nightly"

test-units:
	$(PYTEST) -m "not workflow and not slurm and not nightly" --numprocesses $(CORES) --dist loadscope

test-workflow:
	OMP_NUM_THREADS=1 $(PYTEST) -m "workflow and not golden and not nightly" -rs --numprocesses $(RUNS) --dist loadfile --no-loadscope-reorder

# Mostly waiting: three clusters side by side, whatever CORES is.
test-slurm: environment ## Run the profile and its faults on a real Slurm that the tests bring up (root, Debian)
	@bash envs/slurm.sh || true
	$(PYTEST) tests/slurm -m "slurm and not nightly" -rs --numprocesses 3 --dist loadfile

nightly-tests:
	OMP_NUM_THREADS=1 $(PYTEST) -m nightly -rs --numprocesses $(RUNS) --dist loadfile

# Beside other tests, whose output goes first.
%-beside:
	@output=$$(mktemp); trap 'cat $$output; rm $$output' EXIT; $(MAKE) --no-print-directory $* > $$output 2>&1
