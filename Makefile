# Everything on a fresh machine: `make demo` and `make test`. Needs Python 3.11 to 3.13, gcc, make and git.
# make PYTHON=/path/to/python takes that interpreter, make VENV=/path/to/folder that virtual environment.
PYTHON ?=
VENV ?= .venv
SETUP = PYTHON="$(PYTHON)" VENV="$(VENV)" tools/setup.sh
# make cannot name files whose names hold a space, so no target is a file: tools/setup.sh knows what is installed.
.PHONY: demo test lint docs torture clean

demo:
	@$(SETUP) app,fast
	"$(VENV)/bin/bandstop" demo --out demo

test: lint
	tools/install-debian.sh
	"$(VENV)/bin/python" -m pytest -n 2

lint:
	@$(SETUP) dev
	"$(VENV)/bin/ruff" check .
	"$(VENV)/bin/ruff" format --check .
	"$(VENV)/bin/mypy"
	"$(VENV)/bin/lint-imports"

# An hour and a half of trouble, taken up where it was stopped: make torture TORTURE="files kills" for a part.
torture:
	@$(SETUP) dev
	"$(VENV)/bin/python" -W ignore -m torture $(TORTURE)

docs:
	@$(SETUP) docs
	NO_MKDOCS_2_WARNING=1 "$(VENV)/bin/mkdocs" build --strict --quiet

clean:
	rm -rf build dist demo site runs .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
