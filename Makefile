# Accord. `make` lists the targets.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PORT ?= 8000
BASE_PYTHON ?= python3
VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALL := $(VENV)/bin/uv pip install --quiet --python $(PYTHON) --constraint requirements.lock --requirements pyproject.toml

# Each file records an installation that matches pyproject.toml and requirements.lock, so that it is not repeated.
MADE := $(VENV)/.accord-made
RUNTIME := $(VENV)/.accord-runtime
DEV := $(VENV)/.accord-dev

# A process that may not keep its bytecode compiles all it imports at every start: 10 s instead of 3.
unexport PYTHONDONTWRITEBYTECODE

# What a server behind HTTPS is given; Django's deployment checks judge these.
DEPLOYED := ACCORD_HTTPS=1 ACCORD_HOSTS=accord.example \
	ACCORD_SECRET_KEY=only-for-this-check-0123456789-abcdefghijklmnopqrstuvwxyz
IN_MEMORY := DATABASE_URL=sqlite://:memory:
CHECKS := check-format check-lint check-types check-imports check-deploy check-migrations check-architecture

.PHONY: help run test check format bench replies screenshots clean $(CHECKS)

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(RUNTIME) ## Serve the demo on http://127.0.0.1:8000 (PORT=… for another port)
	@$(PYTHON) manage.py migrate --verbosity 0
	@$(PYTHON) manage.py demo
	@exec $(PYTHON) manage.py serve --port $(PORT)

test: $(DEV) ## Run every test, those that a database decides on SQLite and on PostgreSQL and Redis (ARGS=… for pytest)
	@$(PYTHON) -m tests.support.passes $(ARGS)

check: $(DEV) ## Check format, lint, types, imports, deployment, migrations and architecture
	@$(MAKE) --keep-going --no-print-directory $(CHECKS)

format: $(DEV) ## Format the code and put its imports in order
	@$(VENV)/bin/ruff check --quiet --fix --select I
	@$(VENV)/bin/ruff format

bench: $(DEV) ## Measure Accord beside its peers, 14 minutes (ARGS="--quick", figures, or "--publish")
	@$(PYTHON) -m tests.benchmarks $(ARGS)

replies: $(DEV) ## Measure the reply check on a file of cases (DATA=FILE) and write docs/replies-report.md
	@test -n "$(DATA)" || { echo "Name a file of cases: make replies DATA=…" >&2; exit 1; }
	@$(PYTHON) -m tests.benchmarks.replies "$(DATA)" > docs/replies-report.md.new
	@mv docs/replies-report.md.new docs/replies-report.md

screenshots: $(DEV) ## Take the documentation's pictures from the running pages (needs Chromium)
	@$(PYTHON) -m tests.support.screenshots docs/images

clean: ## Remove the virtual environment and the caches; the data in .accord stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

check-format: $(DEV)
	@echo "== format"
	@$(VENV)/bin/ruff format --check

check-lint: $(DEV)
	@echo "== lint"
	@$(VENV)/bin/ruff check

check-types: $(DEV)
	@echo "== types"
	@$(VENV)/bin/mypy

check-imports: $(DEV)
	@echo "== imports"
	@$(VENV)/bin/lint-imports --no-logo

check-deploy: $(DEV)
	@echo "== deployment"
	@$(DEPLOYED) $(IN_MEMORY) $(PYTHON) manage.py check --deploy --fail-level WARNING

check-migrations: $(DEV)
	@echo "== migrations"
	@$(IN_MEMORY) $(PYTHON) manage.py makemigrations --check --dry-run

check-architecture: $(DEV)
	@echo "== architecture"
	@$(PYTHON) -m pytest --quiet tests/architecture

$(MADE):
	@$(BASE_PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Accord needs Python 3.11 or newer. Name one: make BASE_PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@$(BASE_PYTHON) -c 'import ensurepip, venv' || { \
		echo "This Python cannot make virtual environments. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Making the virtual environment $(VENV)"
	@$(BASE_PYTHON) -m venv $(VENV)
	@$(PYTHON) -m pip install -qq --disable-pip-version-check uv
	@touch $@

$(RUNTIME): $(MADE) pyproject.toml requirements.lock
	@echo "Installing what Accord runs on"
	@$(INSTALL)
	@touch $@

$(DEV): $(MADE) pyproject.toml requirements.lock
	@echo "Installing what Accord runs on and what checks it"
	@$(INSTALL) --extra dev
	@touch $(RUNTIME) $@
