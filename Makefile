# `make run` serves the demo, `make check` checks in a minute what it can, `make test` checks everything.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# the tests begin many processes, each of which would compile every file anew: bytecode is kept
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest --dist=loadfile --no-loadscope-reorder

.PHONY: run check test families recipe cluster siege-tests static bench load siege audit pictures

run: $(VENV)/run.stamp
	$(BIN)/python app.py

test: $(VENV)/test.stamp static
	$(PYTEST) --numprocesses=auto --maxprocesses=4 --ignore=tests/recipe --ignore=tests/siege --ignore=tests/cluster

# Parts to test when their files have changed: `python -m tests.stamps changed` names them, and CI runs those.
recipe cluster siege-tests: $(VENV)/test.stamp
	$(PYTEST) --numprocesses=auto --maxprocesses=4 tests/$(@:-tests=)
	$(BIN)/python -m tests.stamps write $@

families: $(VENV)/test.stamp
	$(PYTEST) --numprocesses=auto --maxprocesses=4 --families -m families tests/model tests/analyses
	$(BIN)/python -m tests.stamps write $@

check: $(VENV)/test.stamp static
	$(PYTEST) --numprocesses=auto --quick -m "not families"

static: $(VENV)/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/oxlint --deny-warnings components
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry . --config deptry.toml
	$(BIN)/deptry . --config deptry.toml --requirements-files requirements.txt,requirements-ray.txt --extend-exclude tests --extend-exclude recipe

bench: $(VENV)/test.stamp
	$(BIN)/python -m tests.benchmarks

load: $(VENV)/test.stamp
	$(BIN)/python -m tests.benchmarks.room

siege: $(VENV)/test.stamp
	$(BIN)/python -m tests.siege

# Asks the network for the advisories of what is installed, by a program in an environment of its own.
audit: $(VENV)/run.stamp
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/pip install --quiet pip-audit
	$(VENV)/audit/bin/pip-audit --path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

pictures: $(VENV)/test.stamp
	$(BIN)/python -m tests.screenshots

$(VENV)/run.stamp: requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Poolscope needs Python 3.11 to 3.13, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -r requirements.txt
	touch $@

$(VENV)/test.stamp: $(VENV)/run.stamp tests/requirements.txt recipe/requirements.txt requirements-ray.txt
	$(BIN)/pip install --quiet -r tests/requirements.txt
	touch $@
