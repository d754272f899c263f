# Everything on a fresh machine: `make demo` and `make test`. Needs Python 3.11+, gcc, make and git.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint setup clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt torch==2.13.0
	$(BIN)/python -m pip install --quiet -c constraints.txt hatchling editables
	$(BIN)/python -m pip install --quiet --no-build-isolation -c constraints.txt -e ".[dev]"
	touch $(STAMP)

demo: setup
	$(BIN)/bandstop demo --out demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	tools/install-debian.sh
	$(BIN)/python -m pytest -n 2

clean:
	rm -rf build dist demo runs .pytest_cache .mypy_cache .ruff_cache .hypothesis
