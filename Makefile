# `make demo` and `make test` need only Python 3.11+ and make; the cluster tests also need Go.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
QUIET  := --quiet
PIP     = $(BIN)/python -m pip install $(QUIET) --disable-pip-version-check
READY  := $(VENV)/.ready
PADDLE := $(VENV)/.paddle
PEERS  := .venv-peers
LOCKER := .venv-lock
LOCK   := $(LOCKER)/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	--no-emit-index-url --no-annotate --custom-compile-command "make lock"
LOGS   := .make
# Without compiled modules, every command that a test starts compiles them: half of its time.
unexport PYTHONDONTWRITEBYTECODE
# Tests that wait for clusters and processes use little CPU, so more of them run in parallel.
WORKERS ?= 2
WAITING ?= 4
WAIT_FOR := tests/cluster tests/process
EXAMPLE := examples/fit-a-line-collective

.PHONY: help demo test lint types contracts unit cluster build-cluster nightly faults fuzz bench cluster-bin lock schemas api-schema docs-commands clean

help:
	@echo "make demo         install, validate, preview, and rehearse a real training job on this machine"
	@echo "make test         run all checks and tests"
	@echo "make lint         check style, types and import contracts"
	@echo "make unit         run the tests that need neither a cluster nor processes"
	@echo "make cluster      run the tests that need a cluster or processes"
	@echo "make nightly      many more examples for each property, and every fault"
	@echo "make faults       inject every fault at every request of every command (15 minutes)"
	@echo "make fuzz         run every fuzzer with 100,000 inputs (hours)"
	@echo "make bench        compare performance with similar tools"
	@echo "make cluster-bin  build Kubernetes, JobSet and Kueue for the cluster tests (Go, once)"
	@echo "make lock         pin what tests and CI install, with hashes, to the newest versions"
	@echo "make schemas      regenerate schemas/ from the models"
	@echo "make api-schema   regenerate the Kubernetes fields that patches are checked with (Go)"
	@echo "make docs-commands  regenerate the option tables in docs/"

$(READY): pyproject.toml requirements/dev.txt
	@echo "== install: paddlespec and its development tools into $(VENV)"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --requirement requirements/dev.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(PADDLE): $(READY) requirements/paddle.txt
	@echo "== install: PaddlePaddle into $(VENV) (200 MB, a minute or two)"
	$(PIP) --require-hashes --requirement requirements/paddle.txt
	touch $@

# Whoever tries it sees what pip downloads.
demo: QUIET :=
demo: $(PADDLE)
	@echo "== validate: every mistake at its exact position" && $(BIN)/paddlespec validate $(EXAMPLE)
	@echo "== preview: what a reviewer reads" && $(BIN)/paddlespec render $(EXAMPLE) --preview
	@echo "== rehearse: two real trainers on this machine, with the environment variables of their pods"
	$(BIN)/paddlespec apply $(EXAMPLE) --target local --rerun --wait complete
	@echo "== losses: the last ones of each trainer"
	@$(BIN)/paddlespec logs fit-a-line-collective --target local --grep loss -n 3
	@echo "== next: run three trainers, show their losses, create your own job (docs/rehearsal.md)"
	@echo "   $(BIN)/paddlespec apply $(EXAMPLE) --target local --scale trainers=3 --wait complete"
	@echo "   $(BIN)/paddlespec logs fit-a-line-collective --grep loss"
	@echo "   $(BIN)/paddlespec init my-job"

# What the cluster tests need is built beside lint and the unit tests, and lint, most of which uses
# one processor, runs beside the unit tests. The cluster tests follow on their own, because they
# wait for controllers, which need a processor to be in time.
test: $(PADDLE)
	@mkdir -p $(LOGS); \
	$(MAKE) --no-print-directory build-cluster > $(LOGS)/build.log 2>&1 & build=$$!; \
	$(MAKE) --no-print-directory lint > $(LOGS)/lint.log 2>&1 & lint=$$!; \
	trap 'kill $$build $$lint 2> /dev/null' INT TERM HUP; failed=0; \
	$(MAKE) --no-print-directory unit || failed=1; \
	wait $$lint || failed=1; cat $(LOGS)/lint.log; \
	wait $$build || { cat $(LOGS)/build.log; failed=1; }; \
	$(MAKE) --no-print-directory cluster || failed=1; \
	exit $$failed

lint: types contracts
	$(BIN)/ruff check paddlespec tests
	$(BIN)/ruff format --check --quiet paddlespec tests

types: $(READY)
	$(BIN)/mypy

contracts: $(READY)
	$(BIN)/lint-imports

unit: $(PADDLE)
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal $(WAIT_FOR:%=--ignore=%)

cluster: $(PADDLE) build-cluster
	$(BIN)/pytest --numprocesses $(WAITING) --dist loadscope $(WAIT_FOR)

build-cluster: $(READY)
	@if [ -n "$$KUBEBUILDER_ASSETS$$PADDLESPEC_TEST_KUBECONFIG" ]; then :; \
	elif command -v go > /dev/null; then $(MAKE) --no-print-directory cluster-bin; \
	else echo "THERE IS NO GO: the cluster tests will be skipped"; fi

nightly: $(PADDLE)
	PADDLESPEC_HYPOTHESIS=fuzz $(MAKE) --no-print-directory unit
	$(MAKE) --no-print-directory faults

faults: $(READY)
	PADDLESPEC_FAULTS=all $(BIN)/pytest tests/cluster/test_faults.py

$(PEERS)/.ready: Makefile
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check torchx kubernetes 'setuptools<81'
	touch $@

fuzz: $(READY)
	nice $(BIN)/python tests/fuzz

bench: $(READY) $(PEERS)/.ready
	PEERS=$(abspath $(PEERS)/bin) $(BIN)/python tests/bench/bench.py

cluster-bin: $(READY)
	PYTHONPATH=tests/cluster $(BIN)/python -m control_plane

lock:
	test -x $(LOCKER)/bin/uv || { $(PYTHON) -m venv $(LOCKER) && $(LOCKER)/bin/python -m pip install --quiet uv; }
	$(LOCK) --upgrade --extra dev pyproject.toml --output-file requirements/dev.txt
	$(LOCK) --extra paddle pyproject.toml --constraint requirements/dev.txt --output-file requirements/paddle.txt

schemas: $(READY)
	$(BIN)/python -m paddlespec.model.schemas
	$(BIN)/python -m paddlespec.shapes

api-schema: $(READY)
	PYTHONPATH=tests/cluster $(BIN)/python -m api_schema

docs-commands: $(READY)
	$(BIN)/python tests/docs/option_tables.py

clean:
	rm -rf $(VENV) $(PEERS) $(LOCKER) $(LOGS) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
