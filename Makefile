# `make` alone prints the targets. Paths are relative, so that a space in the path does no harm.

SHELL := /bin/sh
export PATH := $(CURDIR)/.venv/bin:$(PATH)

PY := .venv/bin/python
LAB_ARGS ?=
BENCH_ARGS ?=
BOOK_ARGS ?=
HUNT_ARGS ?=
ATTACKS_ARGS ?=
PICTURES_ARGS ?=
PYTEST_ARGS ?=
ONLY ?=
IN ?=
TORCH =
TORCH_CPU = https://download.pytorch.org/whl/cpu

PYTEST = $(PY) -m pytest -n auto --dist loadgroup$(if $(PYTEST_ARGS), $(PYTEST_ARGS))

# Installs exactly the versions that were tested. TORCH=cpu takes PyTorch's builds without CUDA.
ifneq ($(filter-out cpu,$(TORCH)),)
$(error There is no TORCH=$(TORCH). Leave it out, or write TORCH=cpu)
endif
INSTALL = $(PY) -m pip install --disable-pip-version-check --constraint constraints.txt$(if \
	$(TORCH), --extra-index-url $(TORCH_CPU)) --editable

# The first of these that the course supports and that can make an environment.
FIND_PYTHON = for p in "$(PYTHON)" python3.11 python3.12 python3.13 python3 python; do \
	"$$p" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
		2>/dev/null && echo "$$p" && break; done

.PHONY: help lab test test-all test-rest test-browser test-long build solutions book pictures grade-demo attacks bench hunt doctor lock
.DEFAULT_GOAL := help

help:
	@echo "Learn"
	@echo "make lab           install what is missing, and open JupyterLab (the first time: minutes)"
	@echo "                   TORCH=cpu: PyTorch without CUDA, which is much smaller on Linux"
	@echo "make doctor        check this machine, and explain how to fix problems (half a minute)"
	@echo ""
	@echo "Check a change"
	@echo "make test          check style, types and imports, and run the quick tests (4 minutes)"
	@echo "                   ONLY=add_to_mul or ONLY=03: style, and one exercise or chapter"
	@echo "make test-all      the same, and all other tests without a browser (15 minutes)"
	@echo "make test-rest     the tests that test-all adds to test (11 minutes)"
	@echo "                   IN=tests/checks: only the tests of a folder"
	@echo "make test-browser  learners in JupyterLab, driven in Chromium: every chapter (7 minutes)"
	@echo "make test-long     attackers, servers of PostgreSQL and Dask, and other slow tests (an hour)"
	@echo "make attacks       grade attackers, and odd but honest work (40 minutes)"
	@echo "                   ATTACKS_ARGS=\"--only claiming\": some of them"
	@echo "make grade-demo    grade a class, and compare each score with the expected one (minutes)"
	@echo ""
	@echo "Write"
	@echo "make build         generate course/*.ipynb from solutions/*.py (half a minute)"
	@echo "make solutions     execute all chapters, solved, into build/solutions/ (15 minutes)"
	@echo "make book          all chapters with outputs, in build/book/html/ (15 minutes, then 2)"
	@echo "                   BOOK_ARGS=--pages: all other pages, no chapter is executed (a minute)"
	@echo "make pictures      pictures and sample chapter of README and docs/ (5 minutes, in Chromium)"
	@echo "                   PICTURES_ARGS=cards, chapter, index or class: one part"
	@echo ""
	@echo "Measure"
	@echo "make bench         time checks and grading, and count false alarms (hours)"
	@echo "                   BENCH_ARGS=checks, random, grading or parts: one part"
	@echo "                   BENCH_ARGS=commits: grading, compared with the commit BENCH_COMMIT"
	@echo "make hunt          search for bugs in PyTorch's own passes with random models (5 minutes)"
	@echo "                   HUNT_ARGS=\"--minutes 30 --seed 7\": longer, and other models"
	@echo ""
	@echo "Release"
	@echo "make lock          write the versions that are installed here to constraints.txt (half a minute)"

lab: .venv/.installed
	@$(PY) -m autograder.cli lab $(LAB_ARGS)

doctor: .venv/.installed
	@$(PY) -m autograder.cli doctor

lock: .venv/.installed-test
	@$(PY) -m autograder.builder.outputs.lock

build: .venv/.installed
	@echo "==> Generating the notebooks"
	@$(PY) -m autograder.cli build

solutions: .venv/.installed
	@echo "==> Executing the chapters in solved form"
	@$(PY) -m autograder.cli solutions

book: .venv/.installed-book
	@echo "==> Making the book (executing every chapter takes a quarter of an hour the first time)"
	@$(PY) -m autograder.cli book $(BOOK_ARGS)

pictures: .venv/.installed-test
	@echo "==> Making the pictures"
	@OMP_NUM_THREADS=1 $(PY) -m pictures $(PICTURES_ARGS)

bench: .venv/.installed-test
	@OMP_NUM_THREADS=1 $(PY) -m benchmarks $(BENCH_ARGS)

hunt: .venv/.installed-test
	@OMP_NUM_THREADS=1 $(PY) -m hunts $(HUNT_ARGS)

grade-demo: .venv/.installed-test
	@echo "==> Grading a class in a temporary folder (a few minutes)"
	@$(PY) -m tests.support.submissions.demo

attacks: .venv/.installed-test
	@echo "==> Grading attackers among honest students, and odd but honest work (many minutes)"
	@$(PY) -m tests.security.attacks $(ATTACKS_ARGS)

# mypy joins types in the order of hashes: without a seed it may find today what it missed before.
# All run, whatever the others say, so that one run shows every problem. mypy uses one processor for
# a minute: it runs in parallel with the tests, and its output is printed after theirs.
ifneq ($(ONLY),)
test: .venv/.installed-test
	@failed=; $(PY) -m ruff check . || failed=1; $(PY) -m ruff format --check . || failed=1; \
	$(PYTEST) --only="$(ONLY)" || failed=1; [ -z "$$failed" ]
else
test: .venv/.installed-test
	@failed=; said=$$(mktemp); left=$$(mktemp); trap 'rm -f "$$said" "$$left"' EXIT; \
	PYTHONHASHSEED=0 $(PY) -m mypy >"$$said" 2>&1 & mypy=$$!; \
	echo "==> ruff check"; $(PY) -m ruff check . || failed="$$failed ruff-check"; \
	echo "==> ruff format --check"; $(PY) -m ruff format --check . || failed="$$failed ruff-format"; \
	echo "==> import-linter"; $(PY) .venv/bin/lint-imports --no-logo || failed="$$failed import-linter"; \
	echo "==> pytest"; $(PYTEST) --suite=quick --left-out="$$left" || failed="$$failed pytest"; \
	echo "==> mypy"; wait $$mypy || failed="$$failed mypy"; cat "$$said"; \
	if [ -n "$$failed" ]; then echo "==> FAILED:$$failed"; exit 1; fi; \
	echo "==> All checks passed."; cat "$$left"; \
	echo "Left out: the tests that take longer; run them with make test-all, test-browser, test-long."
endif

test-all: .venv/.installed-test
	@failed=; $(MAKE) test || failed=1; $(MAKE) test-rest || failed=1; [ -z "$$failed" ]

test-rest: .venv/.installed-test
	@echo "==> The tests that make test leaves out: classes, sandboxes, chapters, all answers"
	@$(PYTEST) --suite=all $(IN)

test-browser: .venv/.installed-test
	@echo "==> Learners in a browser"
	@$(PY) -m pytest -n 2 --dist worksteal --suite=browser $(or $(IN),tests/browser)

test-long: .venv/.installed-test
	@echo "==> Tests that take minutes: attackers, odd submissions, servers of PostgreSQL and Dask"
	@$(PYTEST) --timeout 5400 --suite=long

.venv/bin/python:
	@python="$$($(FIND_PYTHON))"; \
	if [ -z "$$python" ]; then \
		echo "The course needs Python 3.11, 3.12 or 3.13, with its venv module." >&2; \
		echo "None was found. On Debian and Ubuntu: apt install python3.11-venv." >&2; \
		echo "If it lies elsewhere: make lab PYTHON=/path/to/python3.11" >&2; \
		exit 1; \
	fi; \
	echo "==> Creating .venv with $$("$$python" --version)"; \
	"$$python" -m venv .venv

# The course is compiled here, as pip compiles packages: otherwise each of the first processes does it.
.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	@echo "==> Installing the course and the packages that it was tested with (several minutes the first time)"
	@$(INSTALL) '.[learn,teach]'
	@$(PY) -m compileall -q autograder
	@touch $@

.venv/.installed-test: pyproject.toml constraints.txt | .venv/.installed
	@echo "==> Installing what the tests need"
	@$(INSTALL) '.[test]'
	@$(PY) -m compileall -q tests benchmarks hunts
	@touch $@

.venv/.installed-book: pyproject.toml constraints.txt | .venv/.installed
	@echo "==> Installing what the book needs"
	@$(INSTALL) '.[book]'
	@touch $@
