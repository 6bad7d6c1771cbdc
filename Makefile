# Commands that stay stable; each sets up what it needs on a machine with Python >= 3.11 and make.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench bench-service test-system crds chart-crds lock image clean

VENV := .venv
BIN := $(VENV)/bin
PY := PYTHONPATH=tests:. $(BIN)/python
# Takes the place of make's shell, so that a signal to make reaches it.
EXEC_PY := exec env $(PY)
READY := $(VENV)/.ready

# Tests mostly wait, so two processes finish in little over half the time; each has a control plane of its own.
TEST_PROCESSES ?= 2

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
	@touch $@

setup: $(READY) ## Make the virtual environment

demo: $(READY) ## Start everything on this machine and watch a Secret follow its source (DEMO_EXIT=1: end after that)
	@$(EXEC_PY) -m demo $(if $(filter command line,$(origin KUBECONFIG)),--kubeconfig "$(KUBECONFIG)")

test: $(READY) ## Run every test but those that need packages of the operating system
	@$(PY) -m support.controlplane build
	@exec $(BIN)/pytest -m "not system" -n $(TEST_PROCESSES) --dist worksteal $(PYTEST_ARGS)

test-system: $(READY) ## Run the tests that need packages of the operating system; says which were NOT RUN
	@$(PY) -m support.controlplane build
	@$(BIN)/pytest -m system $(PYTEST_ARGS)

check: $(READY) ## Lint, types, layers, CRDs in step, chart; no tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/keybearer crds --output-dir crds --check
	$(BIN)/keybearer crds --output-dir charts/keybearer/files/crds --check
	$$($(PY) -c 'from support.controlplane.binaries import helm_binary; print(helm_binary())') lint --strict --quiet charts/keybearer

bench: $(READY) ## Measure the operator against a floor of the same run; writes build/bench.json (BENCH_ARGS=--quick for a short one)
	@$(PY) -m support.controlplane build
	@$(EXEC_PY) -m bench operator $(BENCH_ARGS)

bench-service: $(READY) ## Measure the service beside a bare route; writes build/bench-service.json (BENCH_ARGS as above)
	@$(EXEC_PY) -m bench service $(BENCH_ARGS)

crds: $(READY) ## Write the CRDs from the models
	$(BIN)/keybearer crds --output-dir crds
	$(BIN)/keybearer crds --output-dir charts/keybearer/files/crds

chart-crds: crds ## Bring the chart's copy of the CRDs in step

lock: ## Choose versions anew; needs uv on the PATH. Locks hold hashes and no addresses
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--upgrade --extra postgres pyproject.toml -o requirements/runtime.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--upgrade --extra dev -c requirements/runtime.txt pyproject.toml -o requirements/dev.txt

image: ## Build the container image with docker, podman or buildah
	@for tool in docker podman buildah; do \
		if command -v $$tool >/dev/null; then exec $$tool build -t keybearer:dev .; fi; done; \
		echo "docker, podman or buildah is needed" >&2; exit 1

clean: ## Remove what the commands above made here
	rm -rf $(VENV) build .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
