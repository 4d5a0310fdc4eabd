# Each of `make launch` and `make test` does all the set-up it needs; the second time it finds it done.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := .venv/bin
AGENTS ?= controls
SEEDS ?= 0-9
ARGS ?= --offline
WORKERS ?= 2
SAMPLED ?= 10-209
FUZZ_SECONDS ?= 60

.PHONY: help python engine images launch check test test-full matrix sampled swap fuzz clean

help: ## say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

python: ## the environment in .venv, from requirements.lock
	@scripts/python.sh

engine: ## a running Docker engine
	@scripts/engine.sh

images: python engine ## the images, built only where their recipe changed
	@$(BIN)/runner images build

launch: ## reference and null on seeds 0-9 against the packaged data (AGENTS=, SEEDS=, ARGS= change that)
	@begin=$$SECONDS; $(MAKE) --no-print-directory images; \
	$(BIN)/runner launch --agents $(AGENTS) --seeds $(SEEDS) $(ARGS); \
	echo "make launch took $$((SECONDS - begin)) s"

check: python ## lint, types, imports and the quick tests without Docker, under two minutes
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n $(WORKERS) --dist worksteal -m "not docker and not live and not slow and not thorough"

test: check images ## check, then whole gradings, then the tests with Docker
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -q -n $(WORKERS) --dist worksteal -m "thorough and not docker and not live and not slow"
	@begin=$$SECONDS; $(BIN)/pytest -q -m "docker and not live and not slow"; \
	echo "docker tests took $$((SECONDS - begin)) s"

test-full: check images ## everything that needs no key, however slow
	@$(BIN)/pytest -q -m "not live"

matrix: python ## mutants and clean variants against the evaluator, observed beside expected (NAMES= picks some)
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.controls $(NAMES)

sampled: python ## 200 sampled tasks held by the reference outside a box and graded (SAMPLED=10-209); what is cached stays
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.sampled --seeds $(SAMPLED) --jobs $(WORKERS)

swap: python ## 30 deliveries of the reference against every belief that differs in one stated option
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.swap --seeds 0-29

fuzz: python ## look for bytes that the table reader does not survive (FUZZ_SECONDS= changes how long)
	@corpus=$$(mktemp -d); trap 'rm -rf "$$corpus"' EXIT; \
	PYTHONPATH=. $(BIN)/python tests/fuzz/fuzz_tables.py -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=2048 -timeout=25 \
		-artifact_prefix=tests/fuzz/ "$$corpus" tests/fuzz/seeds

clean: ## remove our containers, volumes and caches, never a run
	@if [ -x $(BIN)/runner ]; then $(BIN)/runner clean; fi
	@rm -rf "$${FINCOSMOS_CACHE:-$$HOME/.cache/fincosmos}/sampled"
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	@find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
