# One word a job. Works on a machine that has python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: install demo dev services check test test-oldest bench audit paper docs clean

install: $(VENV)/installed

# The virtual environment, made without ensurepip where the system's Python lacks it.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "tacit needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 2; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV); \
		$(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -q pip; } || \
		{ echo "No virtual environment can be made: install the packages python3-venv or python3-pip"; exit 2; }

$(VENV)/installed: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[demo]'
	@touch $@

$(VENV)/installed-dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/installed

demo: install
	$(BIN)/tacit demo

dev: $(VENV)/installed-dev

# Servers that the tests start on loopback; where they cannot be installed, those tests say so and are skipped.
services:
	@sh tests/support/install-services.sh

check: dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check services
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

# Estimators and what they rest on, with the oldest versions that are allowed, in an environment of its own. An old
# matplotlib calls what a new pyparsing warns of.
OLDEST := .venv-oldest
$(OLDEST)/installed-oldest: pyproject.toml tests/support/oldest.txt
	@rm -rf $(OLDEST)
	@$(MAKE) --no-print-directory VENV=$(OLDEST) $(OLDEST)/bin/python
	$(OLDEST)/bin/python -m pip install -q --disable-pip-version-check -c tests/support/oldest.txt \
		-e . pandas 'pyparsing<3.2' 'hypothesis>=6.100' 'pytest>=8,<9.2' 'pytest-xdist>=3.5'
	@touch $@

test-oldest: $(OLDEST)/installed-oldest
	$(OLDEST)/bin/python -m pytest -n $(JOBS) --dist loadgroup tests/test_estimators*.py tests/models tests/selection \
		tests/desk tests/evaluation --ignore tests/evaluation/test_guide.py

# Ratios beside the peers, in one run; QUICK=--quick for a short one.
bench: export TACIT_DATA ?= $(abspath $(wildcard ../shared/data))
bench: dev
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script $(QUICK) || exit 1; done

# Attack every mechanism, the broken ones on purpose.
audit: install
	$(BIN)/tacit audit

# The paper's evaluation run again, as written (not private) beside sound; QUICK=--quick for a short one.
paper: export TACIT_DATA ?= $(abspath $(wildcard ../shared/data))
paper: dev
	$(BIN)/tacit paper --out paper-output $(QUICK)

# The site, in docs/_build/site; a warning is an error.
docs: dev
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d docs/_build/trees docs docs/_build/site
	@echo "Open docs/_build/site/index.html"

clean:
	rm -rf $(VENV) $(OLDEST) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache demo-output paper-output docs/_build
