# Limnograph. `make` alone prints this help. Everything but `make system` lands inside the checkout.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
export PATH := $(CURDIR)/.tools/bin:$(CURDIR)/.venv/bin:$(PATH)
export PYTHONUNBUFFERED := 1
# Images of containers set it: each process that the tests start would compile all that it imports, for 2 s of CPU.
unexport PYTHONDONTWRITEBYTECODE
PYTEST_ARGS ?=
# A worker waits for a quarter of its time, for processes, deadlines and disks: a third one keeps two cores busy.
PYTEST_WORKERS ?= 3
DEMO_ARGS ?=
E2E_ARGS ?=
BLAME_ARGS ?=
LAKEHOUSE ?= short
LAKEHOUSE_FORMS = $(if $(filter long,$(LAKEHOUSE)),batch stream,$(LAKEHOUSE))
LAKEHOUSE_ARGS ?=

# Small matrices are slower on two threads than on one, and workers share the cores.
export OPENBLAS_NUM_THREADS ?= 1

# CI retries a few failed tests once, alone.
AGAIN = $(if $(CI),.ci/again,false)
LAKEHOUSE_AGAIN = $(if $(CI),{ $(MAKE) lakehouse-check LAKEHOUSE=short && mkdir -p .pytest_cache && echo lakehouse-check >>.pytest_cache/unsteady; },false)

# Tests whose size follows LIMNOGRAPH_STEPS, and those that are too slow for every day.
NIGHTLY_TESTS = $(shell grep -rlE 'LIMNOGRAPH_STEPS|mark\.nightly' tests --include='test_*.py')

# Tests on the same two REST catalogs: one process starts them, and a Spark session beside them, once.
REST_TESTS = $(addprefix tests/stack/,test_rest_catalog.py test_rest_contracts.py test_rest_maintenance.py test_trino_rest.py)

FRONTEND_SOURCES := $(shell find frontend/src frontend/static -type f 2>/dev/null) \
  $(wildcard frontend/vite.config.ts frontend/tsconfig.json frontend/package.json)

##@ Start here
.PHONY: help
help: ## Print this help
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: setup ## Start the demo: a real lake with a story, Prometheus, pipeline, server, dashboard
	limnograph demo $(DEMO_ARGS)

.PHONY: lakehouse
lakehouse: setup stack ## Start the reference lakehouse: PostgreSQL, object store, REST catalog, Spark, Trino, Limnograph
	PYTHONPATH=examples python -m lakehouse.run start $(LAKEHOUSE_ARGS)

.PHONY: test
test: setup ## Unit, contract, Spark, Prometheus and browser tests (35 minutes on a quiet machine of two cores)
	pytest -n $(PYTEST_WORKERS) --dist loadgroup --no-loadscope-reorder --durations=25 $(PYTEST_ARGS) || $(AGAIN)
	cd frontend && npm test
	$(MAKE) e2e

.PHONY: test-stack
test-stack: setup stack e2e/node_modules/.stamp ## Integration tests: Spark cluster, REST catalog, S3 endpoint, browser on the demo, the lakehouse's short check (28 minutes on a quiet machine)
	@failed=; $(MAKE) e2e-stack || failed=" e2e/stack"; \
	  for files in "$(REST_TESTS)" $(filter-out $(REST_TESTS),$(wildcard tests/stack/test_*.py)); do \
	    pytest $$files $(PYTEST_ARGS) || $(AGAIN) $$files || failed="$$failed $$files"; done; \
	  $(if $(PYTEST_ARGS),,$(MAKE) lakehouse-check LAKEHOUSE=short || $(LAKEHOUSE_AGAIN) || failed="$$failed lakehouse-check";) \
	  [ -z "$$failed" ] || { echo "failed:$$failed" >&2; exit 1; } # each has its own JVM, with its own jars

##@ Stages of CI
.PHONY: check
check: setup e2e/node_modules/.stamp ## Format, lint, types, layers, generated files, size of the first load: about a minute
	@$(MAKE) -j2 -k -Oline check-dashboard check-types check-python check-format

.PHONY: check-types
check-types:
	mypy
	cd e2e && npx tsc

.PHONY: check-format
check-format:
	ruff format --check .
	cd frontend && npm run lint:format
	cd e2e && ../frontend/node_modules/.bin/prettier --check .

.PHONY: check-python
check-python:
	ruff check .
	lint-imports
	pytest -q tests/test_house.py tests/test_time_units.py tests/test_words.py
	.ci/commits
	python -m limnograph.api.docs.openapi | diff - frontend/src/lib/api/openapi.json
	python -m limnograph.domain.answers.lane_module | diff - frontend/src/lib/api/lane-specs.ts
	python -m limnograph.domain.facts.reference | diff - docs/meta-tables.md
	python -m limnograph.domain.facts.cookbook.page | diff - docs/cookbook.md
	PYTHONPATH=bench python bench/strategies.py | diff - docs/rollup-strategies.md
	python -m limnograph.domain.metrics.reference | diff - docs/metrics.md
	python -m limnograph.settings.reference | diff - docs/settings.md
	python -m limnograph.settings.maintenance.reference | diff - docs/maintenance-settings.md
	python -m limnograph.api.docs.reference | diff - docs/api.md
	PYTHONPATH=bench python -m explain.report | diff - docs/explain-benchmark.md
	python tests/support/adr_index.py | diff - docs/adr/README.md
	PYTHONPATH=bench python -m effects.report | diff - docs/effects.md
	PYTHONPATH=bench python -m forecast.report | diff - docs/forecast-benchmark.md

.PHONY: check-dashboard
check-dashboard:
	cd frontend && npm run check && npm run lint && npm run gen:api:check && npm run budget

.PHONY: e2e
e2e: setup e2e/node_modules/.stamp ## Test the dashboard on recorded responses, in the system's Chromium (or CHROMIUM_PATH)
	cd e2e && npx playwright test -c ui.config.ts $(E2E_ARGS)

.PHONY: e2e-stack
e2e-stack: setup e2e/node_modules/.stamp ## Test the dashboard on the real demo, built when needed (part of test-stack)
	cd e2e && npx playwright test -c stack.config.ts $(E2E_ARGS)

.PHONY: screenshots
screenshots: setup e2e/node_modules/.stamp ## Update the pictures in docs/screenshots
	cd e2e && LIMNOGRAPH_SCREENSHOTS=1 npx playwright test -c ui.config.ts screenshots

.PHONY: e2e-record
e2e-record: setup e2e/node_modules/.stamp ## Record the responses that `make e2e` replays, from a demo built today (make demo DEMO_ARGS=--fresh)
	cd e2e && node record.ts

.PHONY: demo-check
demo-check: setup ## Build the demo when needed and check the whole chain, with a JSON summary
	limnograph demo --check $(DEMO_ARGS)

.PHONY: lakehouse-check
lakehouse-check: setup stack $(if $(filter stream,$(LAKEHOUSE_FORMS)),stack-stream) $(if $(filter batch,$(LAKEHOUSE_FORMS)),stack-drill) ## Check the reference lakehouse by its scenarios, with a JSON summary (LAKEHOUSE=short, batch, stream or long: both)
	@failed=; for form in $(LAKEHOUSE_FORMS); do \
	    PYTHONPATH=examples python -m lakehouse.run check --form $$form $(LAKEHOUSE_ARGS) || failed="$$failed $$form"; done; \
	  [ -z "$$failed" ] || { echo "lakehouse-check failed:$$failed" >&2; exit 1; }

.PHONY: bench
bench: setup ## Benchmark at full size against peers, into bench/results.json (two hours, 8 GB)
	PYTHONPATH=bench:tests/support python bench/run.py

.PHONY: bench-ci
bench-ci: setup ## Benchmark in minutes: slow peers at a tenth of the size; fails below half of a goal
	PYTHONPATH=bench:tests/support python -m findings_cases.measure --ci
	OMP_NUM_THREADS=1 PYTHONPATH=bench python -W ignore -m forecast.measure --ci
	PYTHONPATH=bench:tests/support python bench/run.py --ci

.PHONY: bench-explain bench-blame
bench-explain: setup ## Benchmark Explain against an oracle and four plain methods, on generated and executed cases (EXPLAIN_ARGS)
	PYTHONPATH=bench:tests/support python -W ignore -m explain.measure $(EXPLAIN_ARGS) $(BLAME_ARGS)

bench-blame: bench-explain # the name of this target up to 0.1

.PHONY: bench-effects
bench-effects: setup ## How often bounds of effects cover, on histories with a known truth, into docs/effects.md (EFFECTS_ARGS)
	OMP_NUM_THREADS=1 PYTHONPATH=bench python -m effects.measure $(EFFECTS_ARGS)

.PHONY: bench-forecast train-forecast
bench-forecast: setup ## Score forecasts against an oracle and plain methods on two generators, into docs/forecast-benchmark.md (FORECAST_ARGS)
	OMP_NUM_THREADS=1 PYTHONPATH=bench python -W ignore -m forecast.measure $(FORECAST_ARGS)

train-forecast: setup ## Train the forecast model that ships with Limnograph, on generated tables (TRAIN_ARGS)
	OMP_NUM_THREADS=1 PYTHONPATH=bench python -W ignore -m forecast.train $(TRAIN_ARGS)

.PHONY: bench-findings
bench-findings: setup ## Precision and recall of every finding over generated faults and look-alikes (FINDINGS_ARGS)
	OMP_NUM_THREADS=1 PYTHONPATH=bench:tests/support python -m findings_cases.measure $(FINDINGS_ARGS)

.PHONY: nightly
nightly: setup e2e/node_modules/.stamp ## Tests that take hours: every control of the dashboard in both themes and widths, 200 crashes, deaths of whole JVMs, four pipelines at once, idle streams, larger models (LIMNOGRAPH_STEPS, default 20000)
	cd e2e && LIMNOGRAPH_CRAWL=full npx playwright test -c ui.config.ts crawl
	LIMNOGRAPH_STEPS=$${LIMNOGRAPH_STEPS:-20000} pytest $(NIGHTLY_TESTS) $(PYTEST_ARGS)

##@ Build and maintain
.PHONY: setup
setup: system-check .venv/.stamp .tools/bin/.stamp .tools/jars/.stamp .tools/prometheus/prometheus backend/limnograph/_dashboard/200.html ## Install everything that the other targets need, inside the checkout

.PHONY: stack
stack: .tools/stack/.stamp ## Install the additional tools of test-stack into .tools (once, 300 MB)

.PHONY: stack-stream
stack-stream: .tools/stream/.stamp ## Install Kafka and Debezium for the lakehouse's stream into .tools (once, 92 MB)

.PHONY: stack-drill
stack-drill: .tools/drill/.stamp ## Install Iceberg 1.12 for the lakehouse's drill into .tools (once, 112 MB)

.PHONY: system
system: ## Install system packages (JDK 17, Chromium, PostgreSQL, Maven); as root or with CI=true
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
sbom: setup ## Write bills of materials of server and dashboard (CycloneDX) into dist/
	mkdir -p dist
	uvx --from cyclonedx-bom==7.5.0 cyclonedx-py requirements requirements.lock --of JSON -o dist/sbom-server.json
	cd frontend && npm sbom --sbom-format cyclonedx --package-lock-only > ../dist/sbom-dashboard.json

.PHONY: audit
audit: setup ## Check dependencies for known vulnerabilities; queries PyPI and npm, so it is not part of CI: run it daily
	uvx pip-audit==2.10.1 --require-hashes --disable-pip -r requirements.lock
	cd frontend && npm audit --audit-level=high
	cd e2e && npm audit --audit-level=high

.PHONY: types
types: setup ## Regenerate the OpenAPI document, the TypeScript types, and the generated pages of docs/
	python -m limnograph.api.docs.openapi > frontend/src/lib/api/openapi.json
	cd frontend && npm run gen:api
	python -m limnograph.domain.answers.lane_module > frontend/src/lib/api/lane-specs.ts
	python -m limnograph.domain.facts.reference > docs/meta-tables.md
	python -m limnograph.domain.facts.cookbook.page > docs/cookbook.md
	python -m limnograph.domain.metrics.reference > docs/metrics.md
	python -m limnograph.settings.reference > docs/settings.md
	python -m limnograph.settings.maintenance.reference > docs/maintenance-settings.md
	python -m limnograph.api.docs.reference > docs/api.md
	python tests/support/adr_index.py > docs/adr/README.md

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
	uv pip compile --universal --generate-hashes --extra lakehouse --no-annotate --no-header --no-emit-index-url \
	  -c requirements.lock pyproject.toml -o examples/lakehouse/requirements.lock
	python deploy/setup/jars.py
	python deploy/setup/stack.py --update
	python deploy/setup/stack.py --stream --update
	python deploy/setup/stack.py --drill --update

# The cache first: a registry without caching headers would send Spark again, and each time uv would keep another 1 GB.
.venv/.stamp: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --disable-pip-version-check "$$(grep -o '^uv==[^ ]*' requirements.lock)"
	uv pip install --offline --quiet --require-hashes -r requirements.lock 2>/dev/null || uv pip install --require-hashes -r requirements.lock
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

.tools/stream/.stamp: deploy/setup/stack.py $(wildcard deploy/setup/stream/*) .venv/.stamp
	python deploy/setup/stack.py --stream
	touch $@

.tools/drill/.stamp: deploy/setup/stack.py $(wildcard deploy/setup/drill/*) .venv/.stamp
	python deploy/setup/stack.py --drill
	touch $@

.tools/prometheus/prometheus:
	sh deploy/setup/prometheus.sh

# The form `batch` opens pages in Chromium.
lakehouse-check: $(if $(filter batch,$(LAKEHOUSE_FORMS)),e2e/node_modules/.stamp)

# Another service of `make test-stack`.
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
