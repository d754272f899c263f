# Everything on a fresh machine: `make demo` and `make test`. Needs Python 3.11+, gcc, make and git.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint clean

demo: $(VENV)/.app
	$(BIN)/bandstop demo --out demo

test: lint
	tools/install-debian.sh
	$(BIN)/python -m pytest -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(VENV)/.base: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch==2.13.0 hatchling editables
	touch $@

$(VENV)/.app: $(VENV)/.base pyproject.toml
	$(PIP) --no-build-isolation -e ".[app,fast]"
	touch $@

$(VENV)/.dev: $(VENV)/.base pyproject.toml
	$(PIP) --no-build-isolation -e ".[dev]"
	touch $@

clean:
	rm -rf build dist demo runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
