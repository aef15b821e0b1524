# Two commands: `make lab` to learn, `make test` to check everything. `make help` lists the rest.

PYTHON ?= python3
LAB_ARGS ?=
FILES ?=
EXERCISES ?=
TESTS ?= $(wildcard tests chapters labs solutions)

.PHONY: lab test check mutants labs notebooks bench conformance clean help begin-again
.NOTPARALLEL:

# A .venv is sound if its Python runs and has pip, it was made in this folder, and nothing cut it short.
SOUND = .venv/bin/python -c 'import pip' \
	&& grep -qF "venv $$(pwd -P)/.venv" .venv/pyvenv.cfg \
	&& test ! -e .venv/unfinished
AGAIN := $(if $(wildcard .venv),$(shell { $(SOUND); } >/dev/null 2>&1 || echo begin-again))

lab: .venv/course     ## open the course in JupyterLab (a remote machine: LAB_ARGS="--no-browser --port 8899")
	@.venv/bin/harness-zero lab $(LAB_ARGS)

test: .venv/authors   ## run every test, notebooks included (some of them: TESTS=tests/test_course.py)
	.venv/bin/python -m pytest -n logical --maxprocesses 4 --dist loadscope \
		--nbval --nbval-cell-timeout=120 $(TESTS)

check: .venv/authors  ## lint, format and types
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy

mutants: .venv/authors  ## try the labs' checks on solutions with one thing wrong (some of them: EXERCISES="act run")
	.venv/bin/python -m harness_zero.grading.mutants $(EXERCISES)

labs: .venv/authors   ## generate labs/ from solutions/
	.venv/bin/python -m harness_zero.grading.labs

notebooks: .venv/authors  ## run chapters and solutions, and write their outputs back
	.venv/bin/python -m harness_zero.grading.notebooks $(FILES)

bench: .venv/authors  ## measure what a round, a flight and a graded submission cost
	.venv/bin/python benchmarks/loop.py
	.venv/bin/python benchmarks/requests.py
	.venv/bin/python benchmarks/stepper.py
	.venv/bin/python benchmarks/journal.py
	.venv/bin/python benchmarks/flight.py
	.venv/bin/python benchmarks/grading.py

conformance: .venv/authors  ## hold the offline API's rules against the real one, if there is a key
	.venv/bin/python -m harness_zero.simulator.conformance

clean:                ## remove .venv, to set it up with another PYTHON; workspace/ stays
	rm -rf .venv

help:                 ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' Makefile

# The set-up leaves a stamp named after the extra of pyproject.toml that it installed.
# Authors get all that the course needs, so their set-up leaves both stamps.
.venv/course .venv/teaching .venv/authors: pyproject.toml constraints.txt $(AGAIN)
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here: add PYTHON=python3, or the one you have." >&2; exit 1; }
	@$(PYTHON) -c "$$FIT"
	@echo "Setting up .venv: a minute or two now, and the next start is immediate ..."
	@mkdir -p .venv && touch .venv/unfinished
	@test -e .venv/pyvenv.cfg || $(PYTHON) -m venv .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check \
		-c constraints.txt -e '.[$(@F)]' || $(STOPPED)
	@.venv/bin/python -m compileall -qq harness_zero || true
	@rm .venv/unfinished
	@touch .venv/course $@

begin-again:
	@$(PYTHON) -c "$$FIT"
	@echo "The set-up in .venv is half-made, moved, or its Python is gone: making it anew."
	@rm -rf .venv

# A Python that cannot be used is refused in one sentence.
define FIT
import sys
if sys.version_info < (3, 11):
    sys.exit("Python 3.11 or newer is needed; $(PYTHON) is %d.%d. Name another: make PYTHON=python3.12" % sys.version_info[:2])
try:
    import ensurepip
except ImportError:
    sys.exit("Python's venv module is missing. On Debian or Ubuntu: apt install python3-venv")
endef
export FIT

# pip gave up, most often for want of a network. What worked before an update works still.
define STOPPED
{ \
	test $$? -gt 128 -o ! -e .venv/course || rm .venv/unfinished; \
	echo "The set-up stopped, for the reason that pip gives above." >&2; \
	echo "It needs a network: once there is one, type the same command again." >&2; \
	exit 1; \
}
endef
