# Commands that stay stable; each sets up what it needs on a machine with Python >= 3.11 and make.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: dashboard help setup demo test check docs reference bench bench-service soak explore test-deep test-system test-node crds chart-crds chart-readme version lock image release clean

VENV := .venv
BIN := $(VENV)/bin
PY := PYTHONPATH=. $(BIN)/python
# Takes the place of make's shell, so that a signal to make reaches it.
EXEC_PY := exec env $(PY)
READY := $(VENV)/.ready

# Tests wait for a part of their time: three processes keep two processors busy.
TEST_PROCESSES ?= 3
# Where the tests of `make test` are; name fewer with TESTS=tests/unit.
TESTS ?= tests/unit tests/contract tests/integration
# Python may write bytecode: otherwise each process would compile the test modules again in every run.
PYTEST = env PYTHONDONTWRITEBYTECODE= $(BIN)/pytest
# tests/support/order_of_tests.py says which tests share a process.
IN_PROCESSES = -n $(TEST_PROCESSES)

# The first interpreter that is new enough; name another one with PYTHON=...
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

$(READY): requirements/dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or name it with PYTHON=..." >&2; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)" >&2
	@$(PYTHON) -m venv --clear $(VENV) || { echo "the venv module is missing: install your system's python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q operator # as in the image: the first start is like any other
	@touch $@

setup: $(READY) ## Make the virtual environment

demo: $(READY) ## Start everything on this machine and watch a Secret follow its source (DEMO_EXIT=1: end after that)
	@$(EXEC_PY) -m tools.demo $(if $(filter command line,$(origin KUBECONFIG)),--kubeconfig "$(KUBECONFIG)")

test: $(READY) ## Run the tests that every change has to pass: units, the interface, the operator against a real API server
	@$(PY) -m tools.controlplane build
	@$(PY) -m tools.chart build
	@$(PY) -m tools.prose build
	@exec $(PYTEST) -m "not deep and not system" $(IN_PROCESSES) $(TESTS) $(PYTEST_ARGS)

test-deep: $(READY) ## Run the longer tests: PostgreSQL, kills and faults, generated requests, published clients, Helm, ACME
	@$(PY) -m tools.controlplane build --next
	@$(PY) -m tools.chart build
	@PYTHONPATH=tests:. $(BIN)/python -m support.pebble_programs
	@exec $(PYTEST) -m deep $(IN_PROCESSES) $(PYTEST_ARGS)

test-system: $(READY) ## Run the tests that need packages of the operating system; says which were NOT RUN
	@$(PY) -m tools.controlplane build
	@$(PY) -m tools.chart build
	@PYTHONPATH=tests:. $(BIN)/python -m support.pebble_programs
	@if $(PY) -m tools.node --check; then $(PY) -m tools.node --build; fi
	@$(PYTEST) -m system $(PYTEST_ARGS)

# The same tests as a part of test-system, which builds a release of its own.
test-node: $(READY) ## Install what `make release` left in dist/ by Helm on real nodes, and say what was proved there
	@$(PY) -m tools.release --check
	@$(PY) -m tools.node --check
	@$(PY) -m tools.chart build
	@$(PY) -m tools.node --build
	@exec $(PYTEST) -m system --release=dist tests/system/node $(PYTEST_ARGS)

check: $(READY) docs ## Lint, types, layers, CRDs and documentation in step, prose, chart; no tests
	@$(PY) -m tools.prose
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/keybearer crds --output-dir crds --check
	$(BIN)/keybearer crds --output-dir charts/keybearer/files/crds --check
	$(PY) -m tools.chart.readme --check
	$(PY) -m tools.dashboard --check
	$(PY) -m tools.release.version --check
	$(PY) -m tools.chart lint

docs: $(READY) ## Build the documentation site in build/docs; a broken link, or a page in no navigation, fails
	@$(PY) -m tools.reference --check
	@rm -rf build/docs
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --fresh-env -c docs -d build/docs-cache . build/docs

reference: $(READY) ## Write docs/reference, and tables within pages, from the code
	@$(PY) -m tools.reference

bench: $(READY) ## Measure the operator against a floor of the same run; writes build/bench.json (BENCH_ARGS=--quick for a short one)
	@$(PY) -m tools.controlplane build
	@$(EXEC_PY) -m tools.bench operator $(BENCH_ARGS)

bench-service: $(READY) ## Measure the service beside a bare route; writes build/bench-service.json (BENCH_ARGS as above)
	@$(EXEC_PY) -m tools.bench service $(BENCH_ARGS)

soak: $(READY) ## Run all together under changes, kills and faults; report in build/soak (SOAK_MINUTES=10 SOAK_SYNCS=1000 SOAK_SEED=...)
	@$(PY) -m tools.controlplane build
	@$(PY) -m tools.chart build
	@$(EXEC_PY) -m tools.soak $(if $(SOAK_MINUTES),--minutes=$(SOAK_MINUTES)) $(if $(SOAK_SYNCS),--syncs=$(SOAK_SYNCS)) \
		$(if $(SOAK_SEED),--seed=$(SOAK_SEED))

explore: $(READY) ## Run each scenario with one disturbance at each place (EXPLORE_PLANS=200 EXPLORE_SEED=...: pairs; PLAN=...: one; EXPLORE_RESUME=1)
	@$(PY) -m tools.controlplane build
	@$(PY) -m tools.chart build
	@$(EXEC_PY) -m tools.explore $(if $(PLAN),--plan="$(PLAN)") $(if $(EXPLORE_PLANS),--plans=$(EXPLORE_PLANS)) \
		$(if $(EXPLORE_SEED),--seed=$(EXPLORE_SEED)) $(if $(EXPLORE_RESUME),--resume) \
		$(if $(EXPLORE_MUTANT),--mutant=$(EXPLORE_MUTANT)) $(EXPLORE_ARGS)

crds: $(READY) ## Write the CRDs from the models
	$(BIN)/keybearer crds --output-dir crds
	$(BIN)/keybearer crds --output-dir charts/keybearer/files/crds

chart-crds: crds ## Bring the chart's copy of the CRDs in step

chart-readme: $(READY) ## Write the tables of values in the chart's README from its values.yaml
	@$(PY) -m tools.chart.readme

dashboard: $(READY) ## Build the page of `keybearer dashboard` after a change of its source; needs npm
	@$(PY) -m tools.dashboard

version: $(READY) ## Write the version of pyproject.toml wherever it is repeated: chart, Dockerfile, pages
	@$(PY) -m tools.release.version

lock: ## Choose versions anew; needs uv on the PATH. Locks hold hashes and no addresses
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--upgrade --extra postgres --extra otel pyproject.toml -o requirements/runtime.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--upgrade --extra dev -c requirements/runtime.txt pyproject.toml -o requirements/dev.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--upgrade -c requirements/dev.txt requirements/build.in -o requirements/build.txt

# The first engine that answers; name another one with CONTAINER_ENGINE=...
IMAGE ?= keybearer:dev
IMAGE_BILL ?= build/keybearer.cdx.json
CONTAINER_ENGINE ?= $(shell for tool in docker podman buildah; do \
	$$tool info >/dev/null 2>&1 && echo $$tool && break; done)
# Where there is no repository, as in an archive of a release, nobody knows the commit and its time.
COMMIT = $(shell git rev-parse HEAD 2>/dev/null)
COMMITTED = $(shell git log -1 --format=%ct 2>/dev/null)
DIRTY = $(shell test -z "$$(git status --porcelain)" || echo -dirty)
IMAGE_LABELS = $(if $(COMMIT),--label org.opencontainers.image.revision=$(COMMIT)$(DIRTY) --label org.opencontainers.image.created=$(shell \
	date -u -d @$(COMMITTED) +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || date -u -r $(COMMITTED) +%Y-%m-%dT%H:%M:%SZ))
WRITE_BILL = python -c 'print(open("/usr/local/share/sbom/keybearer.cdx.json").read(), end="")'

image: ## Build the container image IMAGE with docker, podman or buildah, and write its bill of materials to IMAGE_BILL
	@test -n "$(CONTAINER_ENGINE)" || { echo "docker, podman or buildah is needed, and docker's daemon running" >&2; exit 1; }
	$(CONTAINER_ENGINE) build -t $(IMAGE) $(IMAGE_LABELS) \
		--build-arg VERSION=$(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml) \
		$(if $(COMMITTED),--build-arg SOURCE_DATE_EPOCH=$(COMMITTED)) $(IMAGE_ARGS) .
	@mkdir -p $(dir $(IMAGE_BILL))
	@case $(notdir $(CONTAINER_ENGINE)) in \
		buildah) from=$$($(CONTAINER_ENGINE) from --pull-never $(IMAGE)) \
			&& { $(CONTAINER_ENGINE) run $$from -- $(WRITE_BILL) > $(IMAGE_BILL); status=$$?; \
			$(CONTAINER_ENGINE) rm $$from >/dev/null && exit $$status; };; \
		*) $(CONTAINER_ENGINE) run --rm --network none --read-only --entrypoint "" $(IMAGE) $(WRITE_BILL) > $(IMAGE_BILL);; esac
	@echo "built $(IMAGE); its bill of materials is $(IMAGE_BILL)"

release: $(READY) ## Build all that is released into dist/, equal wherever it is built (RELEASE_BASE=debian or an image; docs/releasing.md)
	@$(PY) -m tools.chart build
	@$(EXEC_PY) -m tools.release

clean: ## Remove what the commands above made here, except dist/
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
