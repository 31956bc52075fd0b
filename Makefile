# make lab        set up and open the course in JupyterLab (ARGS=--no-browser on a remote machine)
# make quick      set up and test what you have changed, in half a minute: nothing that trains, no browser
# make lint       set up and check formatting, types, prose, and the notebooks as they are written
# make test       set up and check lint, package, browser and the notebooks that train little; the end says what failed
# make test-all   make test, and then every other case: all engines and hosts, and the notebooks that train
# make format     let ruff mend what it can
# make notebooks  run every notebook and store its outputs (MEASURE=1 renews stored timings)
# make site       build the website into build/site, offline, from the notebooks as they are
# make student    the notebooks without solutions, in student/ (ARGS=--nbgrader: for grading, in grading/)
# make bench      measure beside nn.Transformer, MarianMT and CTranslate2 (ARGS="--only world" for one part)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
START := notebooks/00_start_here.ipynb
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Jupyter does not start for root unless it is told that root is meant.
ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
# Some files at a time, one thread each: faster than one at a time with several threads.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --dist loadfile
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout 600 \
	--nbval-sanitize-with tools/nbval_sanitize.cfg -o addopts= -o filterwarnings=default

.PHONY: lab quick lint test test-all check-format check-lessons check-package check-notebooks \
	check-package-thoroughly check-trained-notebooks bench student site format notebooks checkpoint

lab: $(READY)
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/$(START) $(ROOT) $(ARGS)

# tools/quick.py chooses the tests that import what you have changed, and runs them.
quick: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	OMP_NUM_THREADS=1 $(BIN)/python -m tools.quick $(ARGS)

# Each of these runs all of its parts, whatever became of the ones before, names those that failed, and then fails.
lint: $(READY)
	@tools/run_parts.sh $(LINT)

test: $(READY)
	@tools/run_parts.sh $(TEST)

# The parts of `make test` come first, so you learn soon what is broken.
test-all: $(READY)
	@tools/run_parts.sh $(TEST) check-package-thoroughly check-trained-notebooks

LINT := check-format check-lessons
TEST := check-format check-package check-notebooks

check-format: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxlint

# `make test` has these among the package's tests.
check-lessons: $(READY)
	$(PYTEST) -n 2 tests/lint

# The longest files first: one that is left for the end keeps a core waiting. Of three files at a time one
# always waits for a browser or a process of its own, so two cores have work.
PACKAGE := --no-loadscope-reorder tests/lint/test_types.py tests/notebooks tests/browser tests/training tests/formats \
	tests/test_cli.py tests

check-package: $(READY)
	@tools/get_browsers.sh
	$(PYTEST) -n 3 $(PACKAGE) -m "not thorough" $(ARGS)

# What is marked `thorough`, and nothing else.
check-package-thoroughly: $(READY)
	@tools/get_browsers.sh
	$(PYTEST) -n 3 $(PACKAGE) -m thorough $(ARGS)

# Lessons whose cells train or measure for half a minute and more, and the evidence of those that do so.
TRAINED := $(foreach name,05 08 09 10 10c 11 12 13 14 15 16 capstone1 capstone2 evidence/09 evidence/10 evidence/12,$(wildcard notebooks/$(name)_*.ipynb))

check-notebooks: $(READY)
	$(PYTEST) -n 2 $(NBVAL) $(filter-out $(TRAINED),$(wildcard notebooks/*.ipynb notebooks/evidence/*.ipynb))

check-trained-notebooks: $(READY)
	$(PYTEST) -n 2 $(NBVAL) $(TRAINED)

# Writes benchmarks/RESULTS.md; about fourteen minutes on two cores that nobody else uses, ten and a half
# with AVX2 alone and without bfloat16.
bench: $(READY)
	$(PIP) --constraint constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks $(ARGS)

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Refuses to write over a folder that it did not write, or whose files were edited.
student: $(READY)
	$(BIN)/python -m tools.student_edition $(ARGS)

# Run every notebook, write its outputs and normalise the file (MEASURE=1 renews stored timings).
notebooks: $(READY)
	$(BIN)/python -m tools.build_notebooks $(if $(MEASURE),--measure)

# Train the model that comes with the package, with its snapshots. Its description names this target.
checkpoint: $(READY)
	$(BIN)/python tools/build_checkpoint.py

# Warnings, such as a link that leads nowhere, are errors.
site: $(READY)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs . build/site
	@echo "open build/site/index.html"

# Python keeps what it has compiled, even if your shell tells it not to: otherwise each of the many processes that
# the tests start would compile PyTorch again.
unexport PYTHONDONTWRITEBYTECODE

# Made anew when a dependency changes, and only then. What has a hash is checked against it; PyTorch has none, since
# its wheels differ from index to index under one version. Nothing is left to choose, so --no-deps.
# uv installs in seconds what takes pip minutes. Where it can't, because only pip knows the way to your index,
# pip does it all. The lines of the lock that are uv's own go into a file, because pip takes hashes only from one.
LOCKED := --require-hashes --no-deps --requirement
$(READY): pyproject.toml constraints.txt requirements.lock
	@$(PYTHON) -c 'import sys; print("setting up .venv with Python", sys.version.split()[0], "from", sys.executable)'
	$(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock >$(VENV)/uv.lock
	$(PIP) $(LOCKED) $(VENV)/uv.lock
	$(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python $(LOCKED) requirements.lock \
		|| $(PIP) $(LOCKED) requirements.lock
	$(PIP) --constraint constraints.txt torch
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check
	@touch $(READY)
