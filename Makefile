# make lab      set up and open the course in JupyterLab (ARGS=--no-browser on a remote machine)
# make quick    set up and test the package in about a minute: nothing that trains, no notebook, no browser
# make lint     set up and check formatting, types, prose, and the notebooks as they are written
# make test     set up and run every check: lint, package, browser, notebooks
# make seeds    run the lessons with other seeds and as on another processor (ARGS=05 for one)
# make bench    measure beside nn.Transformer, MarianMT and CTranslate2 (ARGS="--only world" for one part)
# make bench-viz  measure explorer and bench in a browser, beside BertViz (which needs npm)
# make student  the notebooks without solutions, in student/ (ARGS=--nbgrader: for grading, in grading/)
# make site     build the website into build/site, offline, from the notebooks as they are
# make slides   a deck of slides for each lesson, in build/slides (ARGS=03 for one)
# make format   let ruff mend what it can
# make versions  run the package's tests with the oldest, the newest and other versions
# make fuzz     fifty thousand questions by chance to every part (ARGS=--hypothesis-seed=7)
# make mutants  change the package in small ways: do its tests notice? (ARGS="--sample 0" for all)
# make chaos    kill, starve and interrupt training at random moments: what is lost? (Linux, root)
# make soak     translate and edit for a long time: does memory grow? (ARGS="--minutes 60")
# make lock     write the hashes of what is installed, after a dependency has changed
# make sbom     list what is installed, with its licences, in docs/

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
START := notebooks/00_start_here.ipynb
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Jupyter does not start for root unless it is told that root is meant.
ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
# Two files at a time, one thread each: faster than one at a time with two threads.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile
NBVAL := --nbval --nbval-current-env --nbval-cell-timeout 600 \
	--nbval-sanitize-with tools/nbval_sanitize.cfg -o addopts= -o filterwarnings=default

.PHONY: lab quick lint test seeds bench bench-viz student site slides format notebooks checkpoint constraints clean lock sbom versions fuzz mutants chaos soak

lab: $(READY)
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/$(START) $(ROOT) $(ARGS)

# Without the check of every argument's shape, which takes half of the time: `make test` has it.
quick: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYTEST) tests -m "not slow" --ignore tests/lint --ignore tests/notebooks --ignore tests/browser \
		-o addopts="-p no:nbval --import-mode=importlib --strict-markers" $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxlint
	$(BIN)/mypy
	$(PYTEST) tests/lint

# The longest files first: one that is left for the end keeps a core waiting.
test: lint
	@tools/get_browsers.sh
	$(PYTEST) --no-loadscope-reorder tests/notebooks tests/browser tests --ignore tests/lint $(ARGS)
	$(PYTEST) $(NBVAL) notebooks

# Ten runs of each lesson, one thread: about two hours.
seeds: $(READY)
	$(BIN)/python -m tools.reseed $(ARGS)

# Writes benchmarks/RESULTS.md; about fourteen minutes on two cores that nobody else uses, ten and a half
# with AVX2 alone and without bfloat16.
bench: $(READY)
	$(PIP) --constraint constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks $(ARGS)

# The pages' part of benchmarks/RESULTS.md; about seven minutes.
bench-viz: $(READY)
	@tools/get_browsers.sh
	$(PIP) --constraint constraints.txt -e '.[bench,test,lab]'
	$(BIN)/python -m benchmarks --only explorer bench $(ARGS)

# 50,000 cases, other ones at each run; about half an hour. `make test` has 500.
fuzz: $(READY)
	@tools/get_browsers.sh
	$(PIP) --constraint constraints.txt -e '.[test,lab]'
	FUZZ_CASES=50000 $(PYTEST) -o timeout=3600 tests/fuzz tests/browser/test_records_by_chance.py $(ARGS)

# A sample of 400 changes, about an hour; ARGS=--write writes what was found into docs/trust.md.
mutants: $(READY)
	$(BIN)/python -m tools.mutate.package $(ARGS)

# About twelve minutes; ARGS=--write writes what was found into docs/trust.md. Small disks need root.
chaos: $(READY)
	@tools/get_browsers.sh
	$(PIP) --constraint constraints.txt -e '.[test,lab]'
	$(BIN)/python -m tools.chaos $(ARGS)

# 20,000 translations and 2,000 edits of each page, for as many minutes as are asked for at least.
soak: $(READY)
	@tools/get_browsers.sh
	$(PIP) --constraint constraints.txt -e '.[test,lab]'
	$(BIN)/python -m tools.soak $(ARGS)

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Refuses to write over a folder that it did not write, or whose files were edited.
student: $(READY)
	$(BIN)/python -m tools.student_edition $(ARGS)

# Run every notebook, write its outputs and normalise the file (MEASURE=1 renews stored timings).
notebooks: $(READY)
	$(BIN)/python tools/build_notebooks.py $(if $(MEASURE),--measure)

# Train the model that comes with the package, with its snapshots.
checkpoint: $(READY)
	$(BIN)/python tools/build_checkpoint.py

# Warnings, such as a link that leads nowhere, are errors.
site: $(READY)
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -c docs . build/site
	@echo "open build/site/index.html"

# Nothing is run, nothing fetched: the slides show what the notebooks hold.
slides: $(READY)
	$(BIN)/python -m tools.slides $(ARGS)

# Write down what is installed now, for the next CI to pass with, and lock it.
constraints: $(READY)
	$(BIN)/pip freeze --exclude-editable > constraints.new
	sed 's/+cpu$$//' constraints.new > constraints.txt
	rm constraints.new
	$(MAKE) lock

# The hashes of what constraints.txt and pyproject.toml ask for; uv only looks things up here.
lock:
	$(PYTHON) -m venv build/uv
	build/uv/bin/pip install --quiet uv
	build/uv/bin/python -m tools.lock

# Of what is installed: each package, its licence and where it comes from.
sbom: $(READY)
	$(PYTHON) -m venv build/sbom
	build/sbom/bin/pip install --quiet cyclonedx-bom pip-licenses
	$(BIN)/python -m tools.sbom build/sbom/bin

# An environment for each row of docs/versions.md; PyTorch is fetched for most, with CUDA: some gigabytes each.
versions: $(READY)
	$(BIN)/python -m tools.versions $(ARGS)

# Made anew when a dependency changes, and only then. What has a hash is checked against it; PyTorch has none, since
# its wheels differ from index to index under one version. Nothing is left to choose, so --no-deps.
$(READY): pyproject.toml constraints.txt requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --no-deps --requirement requirements.lock
	$(PIP) --constraint constraints.txt torch
	$(PIP) --no-deps --no-build-isolation -e .
	$(BIN)/python -m pip check
	@touch $(READY)

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache
