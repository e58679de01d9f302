# `make demo` and `make test` need nothing before them but Python 3.10+ and make; Go for the cluster tests.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
PADDLE := $(VENV)/.paddle
PEERS  := .venv-peers
# Two folders of tests have a conftest each: to the type checker these are two runs.
TEST_PATHS := tests/docs:tests/cluster
EXAMPLE := examples/fit-a-line-collective

.PHONY: help demo test lint types contracts unit bench cluster-bin schemas clean

help:
	@echo "make demo         install, validate, preview, and train a real example on this machine"
	@echo "make test         every check and test"
	@echo "make lint         style, types, import contracts"
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
	@echo "== train: two real processes, as the cluster would start them"
	cd $(EXAMPLE) && PADDLESPEC_OUTPUT=$${TMPDIR:-/tmp}/paddlespec-demo \
	  $(abspath $(BIN))/python -W ignore -m paddle.distributed.launch --nproc_per_node 2 \
	  --log_dir $${TMPDIR:-/tmp}/paddlespec-demo/log train.py --epochs 5
	@echo "== next: $(BIN)/paddlespec apply $(EXAMPLE) --wait complete"

test: lint unit

lint: types contracts
	$(BIN)/ruff check paddlespec tests
	$(BIN)/ruff format --check --quiet paddlespec tests

types: $(READY)
	MYPYPATH=$(TEST_PATHS) $(BIN)/mypy paddlespec tests --exclude '^tests/cluster/'
	MYPYPATH=$(TEST_PATHS) $(BIN)/mypy tests/cluster

contracts: $(READY)
	$(BIN)/lint-imports

unit: $(PADDLE)
	$(BIN)/pytest

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

clean:
	rm -rf $(VENV) $(PEERS) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
