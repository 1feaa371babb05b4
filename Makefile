# Limnograph. `make` alone prints this help. Everything but `make system` lands inside the checkout.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
export PATH := $(CURDIR)/.tools/bin:$(CURDIR)/.venv/bin:$(PATH)
export PYTHONUNBUFFERED := 1
PYTEST_ARGS ?=
DEMO_ARGS ?=
E2E_ARGS ?=
BLAME_ARGS ?=

# In CI a few failed tests are tried once more, alone.
AGAIN = $(if $(CI),.ci/again,false)

# Tests whose size follows LIMNOGRAPH_STEPS, and those that are too long for every day.
NIGHTLY_TESTS = $(shell grep -rlE 'LIMNOGRAPH_STEPS|mark\.nightly' tests --include='test_*.py')

FRONTEND_SOURCES := $(shell find frontend/src frontend/static -type f 2>/dev/null) \
  $(wildcard frontend/vite.config.ts frontend/tsconfig.json frontend/package.json)

##@ Start here
.PHONY: help
help: ## Print this help
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: setup ## Start the demo: a real lake with a story, Prometheus, pipeline, server, dashboard
	limnograph demo $(DEMO_ARGS)

.PHONY: test
test: setup ## Unit, contract, Spark, Prometheus and browser tests (at most 20 minutes)
	pytest -n 2 --dist loadgroup --no-loadscope-reorder --durations=25 $(PYTEST_ARGS) || $(AGAIN)
	cd frontend && npm test
	$(MAKE) e2e

.PHONY: test-stack
test-stack: setup stack e2e/node_modules/.stamp ## Against real neighbours: Spark cluster, REST catalog, S3 endpoint, browser on the demo (at most 25 minutes)
	@failed=; $(MAKE) e2e-stack || failed=" e2e/stack"; \
	  for file in tests/stack/test_*.py; do pytest $$file $(PYTEST_ARGS) || $(AGAIN) $$file || failed="$$failed $$file"; done; \
	  [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; } # each file has a JVM of its own, with its own jars

##@ Stages of CI
.PHONY: check
check: setup e2e/node_modules/.stamp ## Format, lint, types, layers, drift, weight of the first load: under a minute
	ruff format --check .
	ruff check .
	mypy
	lint-imports
	pytest -q tests/test_house.py tests/test_words.py
	.ci/commits
	python -m limnograph.api.docs.openapi | diff - frontend/src/lib/api/openapi.json
	python -m limnograph.domain.facts.reference | diff - docs/meta-tables.md
	PYTHONPATH=bench python bench/strategies.py | diff - docs/rollup-strategies.md
	python -m limnograph.domain.metrics.reference | diff - docs/metrics.md
	python -m limnograph.settings.reference | diff - docs/settings.md
	python -m limnograph.api.docs.reference | diff - docs/api.md
	PYTHONPATH=bench python -m blame.report | diff - docs/explain-benchmark.md
	cd frontend && npm run check && npm run lint && npm run gen:api:check && npm run budget
	cd e2e && npx tsc && ../frontend/node_modules/.bin/prettier --check .

.PHONY: e2e
e2e: setup e2e/node_modules/.stamp ## The dashboard on recorded answers, in the system's Chromium (CHROMIUM_PATH to choose another)
	cd e2e && npx playwright test -c ui.config.ts $(E2E_ARGS)

.PHONY: e2e-stack
e2e-stack: setup e2e/node_modules/.stamp ## The dashboard on the real demo, which is built when needed (a part of test-stack)
	cd e2e && npx playwright test -c stack.config.ts $(E2E_ARGS)

.PHONY: screenshots
screenshots: setup e2e/node_modules/.stamp ## Take the pictures of docs/screenshots again
	cd e2e && LIMNOGRAPH_SCREENSHOTS=1 npx playwright test -c ui.config.ts screenshots

.PHONY: e2e-record
e2e-record: setup e2e/node_modules/.stamp ## Record the answers that `make e2e` replays, from a demo of today (make demo DEMO_ARGS=--fresh)
	cd e2e && node record.ts

.PHONY: demo-check
demo-check: setup ## Build the demo when needed and prove the whole chain, with a JSON summary
	limnograph demo --check $(DEMO_ARGS)

.PHONY: bench
bench: setup ## Measure what we promise against peers at full size, into bench/results.json (an hour, 8 GB)
	PYTHONPATH=bench:tests/support python bench/run.py

.PHONY: bench-ci
bench-ci: setup ## The same in minutes: slow peers at a tenth of the size; fails below half of a goal
	PYTHONPATH=bench:tests/support python bench/run.py --ci

.PHONY: bench-blame
bench-blame: setup ## Which commit was it: our answers, an oracle's and four plain methods' on made and executed cases (BLAME_ARGS)
	PYTHONPATH=bench:tests/support python -W ignore -m blame.measure $(BLAME_ARGS)

.PHONY: nightly
nightly: setup ## 200 crashes, four pipelines at once, idle streams, and models at their larger sizes (LIMNOGRAPH_STEPS, default 20000)
	LIMNOGRAPH_STEPS=$${LIMNOGRAPH_STEPS:-20000} pytest $(NIGHTLY_TESTS) $(PYTEST_ARGS)

##@ Make things
.PHONY: setup
setup: system-check .venv/.stamp .tools/bin/.stamp .tools/jars/.stamp .tools/prometheus/prometheus backend/limnograph/_dashboard/200.html ## All that the other targets need, inside the checkout

.PHONY: stack
stack: .tools/stack/.stamp ## What test-stack needs beside setup, into .tools (once, 300 MB)

.PHONY: system
system: ## Install what only the system has (JDK 17, Chromium, PostgreSQL, Maven); as root or with CI=true
	@sh deploy/setup/system.sh

.PHONY: system-check
system-check:
	@if [ "$$(id -u)" = 0 ] || [ "$${CI:-}" = true ]; then sh deploy/setup/system.sh; else sh deploy/setup/system.sh --check; fi
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; run make PYTHON=python3.11")'

.PHONY: build
build: backend/limnograph/_dashboard/200.html ## Build the dashboard into the Python package

.PHONY: wheel
wheel: setup ## Build the wheel with the dashboard inside, into dist/
	uv build --wheel

.PHONY: sbom
sbom: setup ## Bills of materials of server and dashboard (CycloneDX) into dist/
	mkdir -p dist
	uvx --from cyclonedx-bom==7.5.0 cyclonedx-py requirements requirements.lock --of JSON -o dist/sbom-server.json
	cd frontend && npm sbom --sbom-format cyclonedx --package-lock-only > ../dist/sbom-dashboard.json

.PHONY: audit
audit: setup ## Known holes in what is installed; asks PyPI and npm, so CI does not depend on it: run it each day
	uvx pip-audit==2.10.1 --require-hashes --disable-pip -r requirements.lock
	cd frontend && npm audit --audit-level=high
	cd e2e && npm audit --audit-level=high

.PHONY: types
types: setup ## Regenerate the OpenAPI document, the TypeScript types, and the pages of docs/ that come from code
	python -m limnograph.api.docs.openapi > frontend/src/lib/api/openapi.json
	cd frontend && npm run gen:api
	python -m limnograph.domain.facts.reference > docs/meta-tables.md
	python -m limnograph.domain.metrics.reference > docs/metrics.md
	python -m limnograph.settings.reference > docs/settings.md
	python -m limnograph.api.docs.reference > docs/api.md

.PHONY: format
format: setup e2e/node_modules/.stamp ## Format all code
	ruff format .
	ruff check --fix .
	cd frontend && npm run format
	cd e2e && ../frontend/node_modules/.bin/prettier --write .

.PHONY: lock
lock: .venv/.stamp ## Resolve the Python lock and the jars' checksums again (npm: `npm install` in frontend and e2e)
	uv pip compile --universal --generate-hashes --all-extras --group dev --group bench --no-annotate --no-header --no-emit-index-url \
	  --upgrade pyproject.toml -o requirements.lock
	python deploy/setup/jars.py
	python deploy/setup/stack.py --update

.venv/.stamp: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --disable-pip-version-check "$$(grep -o '^uv==[^ ]*' requirements.lock)"
	uv pip install --require-hashes -r requirements.lock
	uv pip install --no-deps -e .
	touch $@

.tools/bin/.stamp: .venv/.stamp deploy/setup/node.sh
	sh deploy/setup/node.sh
	@touch $@

.tools/jars/.stamp: backend/limnograph/adapters/spark/jars.lock .venv/.stamp
	limnograph setup --into .tools/jars
	touch $@

.tools/stack/.stamp: deploy/setup/stack.py $(wildcard deploy/setup/stack/*) backend/limnograph/adapters/spark/jars-s3.lock .tools/jars/.stamp
	limnograph setup --into .tools/jars --s3
	python deploy/setup/stack.py
	touch $@

.tools/prometheus/prometheus:
	sh deploy/setup/prometheus.sh

# A neighbour of `make test-stack`.
stack: .tools/trino/.version
.tools/trino/.version: deploy/setup/trino.sh deploy/setup/trino.lock
	sh deploy/setup/trino.sh
	@touch $@

frontend/node_modules/.stamp: frontend/package-lock.json .tools/bin/.stamp
	cd frontend && npm ci --prefer-offline
	touch $@

e2e/node_modules/.stamp: e2e/package-lock.json .tools/bin/.stamp
	cd e2e && npm ci --prefer-offline
	touch $@

backend/limnograph/_dashboard/200.html: frontend/node_modules/.stamp $(FRONTEND_SOURCES)
	cd frontend && npm run build
	touch $@
