# Two commands do all set-up: `make demo` and `make test`. Both need python3 (3.11 or newer), make and a package index.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SHELL  := /bin/bash
# Tests start hundreds of programs: what Python has compiled once is kept, whatever the shell says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all lint types tests deep-tests mutants prove provers bench fuzz docs format clean

help:
	@echo "make demo    a model checked, made to conform, run in IEEE arithmetic and exactly, written in C"
	@echo "make test    lint, types, tests with coverage: what must pass before a commit"
	@echo "make test-all  the same, then deep budgets, sanitizers, provers, emulator, browser, mutants, fuzzing"
	@echo "make prove   what proofs.lock has no entry for, and a twentieth of the rest, by Why3 and Frama-C (ALL=1: everything)"
	@echo "make fuzz    20,000 damaged and hostile model files through the check"
	@echo "make bench   measured ratios to other engines: tables, build/bench.json, build/bench.png"
	@echo "make docs    the documentation, into site/"
	@echo "make format  rewrite the sources in the house style"
	@echo "make clean   remove everything that make made"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "sonnx needs Python 3.11 or newer; name one with: make PYTHON=python3.11 demo" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "python3 could not make a virtual environment (on Debian: apt-get install python3-venv)" >&2; exit 1; }

$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,docs,bench,zig,prove]'
	@touch $@ $(VENV)/.run $(VENV)/.prove

demo: $(VENV)/.run
	@$(BIN)/python examples/demo.py build/demo

# mypy works on one core while the first tests are collected; what it says is a few lines.
test: lint
	@$(MAKE) --no-print-directory -j2 types tests

test-all: test
	@$(MAKE) --no-print-directory deep-tests

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test
	$(BIN)/mypy

# Some tests call make themselves: what this one was called with is not for those.
tests: $(VENV)/.test
	env -u MAKEFLAGS -u MFLAGS $(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=
	$(BIN)/python -m coverage report --fail-under=100

# What `make test` leaves out (CONTRIBUTING.md has the tiers); it skips what the machine has no tools for.
deep-tests: $(VENV)/.test
	env -u MAKEFLAGS -u MFLAGS $(BIN)/python -m pytest -n 3 --dist worksteal --tier deep

# How many of 80 drawn mutants die of `make test`; with TIER=all, of `make test-all`.
TIER ?= quick
mutants: $(VENV)/.test
	$(BIN)/python -m tests.mutants reach --tier $(TIER)
	$(BIN)/python -m tests.mutants judge --tier $(TIER)

$(VENV)/.prove: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[prove]'
	@touch $@ $(VENV)/.run

# What Python packages cannot bring comes from the system's.
PROVERS := why3 frama-c-base z3 cvc4
provers:
	@if command -v why3 && command -v frama-c && command -v cvc4 && command -v z3; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get; then apt-get update -qq \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $(PROVERS); \
	else echo "install the provers first: sudo apt-get install --no-install-recommends $(PROVERS)" >&2; exit 1; fi >/dev/null

prove: $(VENV)/.prove provers
	@$(BIN)/python -m proofs build/prove $(if $(ALL),--all)

bench: $(VENV)/.test
	$(BIN)/python -m bench

fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz --files 20000

docs: $(VENV)/.test
	$(BIN)/python -m docs

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf $(VENV) build site .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
