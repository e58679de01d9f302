# `make demo` and `make test` need nothing before them but Python 3.10+ and make; Go for the cluster tests.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PADDLE := $(VENV)/.paddle
PEERS  := .venv-peers
WORKERS ?= 2
# Two folders of tests have a conftest each: to the type checker these are two runs.
TEST_PATHS := tests/docs:tests/cluster
EXAMPLE := examples/fit-a-line-collective

.PHONY: help demo test lint types contracts unit faults bench cluster-bin schemas clean

help:
	@echo "make demo         install, validate, preview, and rehearse a real training on this machine"
	@echo "make test         every check and test"
	@echo "make lint         style, types, import contracts"
	@echo "make faults       every fault at every request of every command (a quarter of an hour)"
	@echo "make bench        measure against peers"
	@echo "make cluster-bin  build the Kubernetes control plane of the cluster tests (Go, once)"
	@echo "make schemas      regenerate schemas/ from the models"

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(PADDLE): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[paddle]'
	touch $@

demo: $(PADDLE)
	@echo "== validate: every mistake at its word" && $(BIN)/paddlespec validate $(EXAMPLE)
	@echo "== preview: what a reviewer looks at" && $(BIN)/paddlespec render $(EXAMPLE) --preview
	@echo "== rehearse: two real trainers on this machine, with the variables of their pods"
	$(BIN)/paddlespec apply $(EXAMPLE) --target local --rerun --wait complete
	@echo "== next: three trainers, their losses once more, and a job of your own (docs/rehearsal.md)"
	@echo "   $(BIN)/paddlespec apply $(EXAMPLE) --target local --scale trainers=3 --wait complete"
	@echo "   $(BIN)/paddlespec logs fit-a-line-collective --grep loss"
	@echo "   $(BIN)/paddlespec init my-job"

test: lint unit

lint: types contracts
	$(BIN)/ruff check paddlespec tests
	$(BIN)/ruff format --check --quiet paddlespec tests

types: $(READY)
	MYPYPATH=$(TEST_PATHS) $(BIN)/mypy paddlespec tests --exclude '^tests/cluster/'
	MYPYPATH=$(TEST_PATHS) $(BIN)/mypy tests/cluster

contracts: $(READY)
	$(BIN)/lint-imports

# Each worker has a control plane of its own: half a gigabyte of memory.
unit: $(PADDLE)
	@if [ -n "$$KUBEBUILDER_ASSETS$$PADDLESPEC_TEST_KUBECONFIG" ]; then :; \
	elif command -v go > /dev/null; then $(MAKE) --no-print-directory cluster-bin; \
	else echo "THERE IS NO GO: the cluster tests will be skipped"; fi
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal

faults: $(READY)
	PADDLESPEC_FAULTS=all $(BIN)/pytest tests/cluster/test_faults.py

$(PEERS)/.ready: Makefile
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check torchx kubernetes 'setuptools<81'
	touch $@

bench: $(READY) $(PEERS)/.ready
	PEERS=$(abspath $(PEERS)/bin) $(BIN)/python tests/bench/bench.py

cluster-bin:
	$(PYTHON) tests/cluster/control_plane/build.py

schemas: $(READY)
	$(BIN)/python -m paddlespec.model.schemas
	$(BIN)/python -m paddlespec.shapes

clean:
	rm -rf $(VENV) $(PEERS) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
