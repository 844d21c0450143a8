# What one can do here; `make` alone lists it. Every target prepares what it needs and can be run again at any time.
# The work itself is in scripts/, each of which says what it does.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= 3.12
HOST := 3.11 3.12 3.13
NEXT := 3.14 3.15
run = .venvs/$(PYTHON)/bin/python

.PHONY: help demo test test-next bench bench-all churn fuzz lint develop clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{ printf "  \033[36mmake %-10s\033[0m %s\n", $$1, $$2 }'
	@echo "  PYTHON=3.X picks the interpreter for demo, bench, churn, fuzz and develop (now $(PYTHON))"

demo: ## set this machine up, compile a model, take the standard library apart and together again, show the table of speeds
	scripts/setup --torch $(PYTHON)
	OMP_NUM_THREADS=1 $(run) examples/compile_model.py
	$(run) -m pydynamo roundtrip
	$(run) -m pydynamo bench

test: ## the suites on CPython 3.11, 3.12 and 3.13 (torch suites in full on 3.12), and the Rust tests
	scripts/setup --torch $(HOST)
	scripts/test rust $(HOST)

test-next: ## the suites on CPython 3.14 and 3.15, in a Debian tree where this machine has neither
	scripts/setup --torch $(NEXT)
	scripts/test $(NEXT)

bench: ## measure the assembler in full on PYTHON, against torch, bytecode, dis and compile()
	scripts/setup --torch $(PYTHON)
	$(run) benchmarks/assembler.py

bench-all: ## the same on all five Pythons, one after the other
	for version in $(HOST) $(NEXT); do $(MAKE) --no-print-directory bench PYTHON=$$version || exit 1; done

churn: ## CPython's own tests with every function's blocks shuffled and NOPs inserted, on PYTHON
	scripts/setup $(PYTHON)
	$(run) tests/churn/run.py

fuzz: ## both fuzzers for FUZZ_SECONDS each (60): coverage-guided on the Rust core, mutated lists on PYTHON
	scripts/setup $(PYTHON)
	scripts/fuzz $(PYTHON)

lint: ## formatting, clippy, ruff, mypy in strict mode, stubs against the extension
	scripts/setup --lint 3.12
	scripts/lint

develop: ## everything a contributor wants on PYTHON: venv with all tools, extension built in place
	scripts/setup --lint --torch $(PYTHON)
	@echo "ready: source .venvs/$(PYTHON)/bin/activate; 'maturin develop --release' rebuilds after a change in rust/"

clean: ## remove build products and virtual environments (the Debian tree in ~/.cache/pydynamo stays)
	rm -rf target .venvs pydynamo/_core.*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
