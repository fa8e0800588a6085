# Everything is made from nothing: a virtual environment from requirements.lock, Java, and (for the demo) .demo/.
# Variables: VENV, LOCK (the environment to use or make), PYTHON (to make it with), ARGS (passed on to the command).

VENV ?= .venv
LOCK ?= requirements.lock
ARGS ?=
READY = $(VENV)/.ready
CLASSES = $(VENV)/spark-classes.jsa
RUN = PATH="$(abspath $(VENV))/bin:$$PATH"
SPARK = $(RUN) JAVA_HOME="$$(tools/java.sh)" && export JAVA_HOME &&

# Some tools can't do without a home folder.
export HOME := $(or $(HOME),$(CURDIR)/.demo/home)

.DEFAULT_GOAL := help
# Hundreds of processes import Airflow: each would compile it for itself, if the environment said so.
export PYTHONDONTWRITEBYTECODE :=

PARTS = test-spark test-postgresql-a test-postgresql-f test-rest test-view test-sqlite test-storage test-wheel test-conformance test-core
GAPS = test-core
VERSIONS = crossing-pre-release crossing-lowest crossing-python
.PHONY: help demo demo-stop demo-status cluster cluster-stop cluster-status test test-lanes test-long test-versions crossing $(PARTS) $(VERSIONS) coverage dist lint lint-python lint-view lock bench docs view

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo '  ARGS=... is passed on, as in: make demo ARGS=--json'

demo: $(READY) ## flights of 2013: first rows in two minutes, then days of 23, 24 and 25 hours; ARGS=--quick stops before
	@$(SPARK) $(VENV)/bin/python -m demo start $(ARGS)

demo-status: $(READY) ## what of the demo is running
	@$(VENV)/bin/python -m demo status $(ARGS)

demo-stop: ## end what `make demo` started; its data stays in .demo/
	@if [ -x $(VENV)/bin/python ]; then $(VENV)/bin/python -m demo stop $(ARGS); else echo 'nothing to stop'; fi

cluster: $(READY) ## the same as in production: PostgreSQL, two schedulers, a Spark cluster, S3; January 2013; ARGS=--quick: a day
	@$(SPARK) $(VENV)/bin/python -m cluster start $(ARGS)

cluster-status: $(READY) ## what of the cluster is running
	@$(VENV)/bin/python -m cluster status $(ARGS)

cluster-stop: ## end what `make cluster` started; its data stays in .cluster/
	@if [ -x $(VENV)/bin/python ]; then $(VENV)/bin/python -m cluster stop $(ARGS); else echo 'nothing to stop'; fi

test: $(READY) $(if $(ARGS),$(CLASSES)) ## the tests, with the real scheduler and real Spark
ifdef ARGS
	@$(SPARK) $(VENV)/bin/python -m pytest $(ARGS)
else
	@rm -f $(VENV)/test-*.log
	@$(MAKE) --no-print-directory --jobs=2 --keep-going $(GAPS) test-lanes \
	  || { echo 'What failed:'; grep -E '^(FAILED|ERROR) ' $(VENV)/test-*.log | sed 's|^.*/test-||' | cut -c-300; exit 1; }
endif

# By a variable: a line that names make is run by `make -n` too, and these have no flags of it.
LANES = MAKEFLAGS= $(MAKE) --no-print-directory VENV=$(VENV) LOCK=$(LOCK) --jobs=4 --keep-going $(filter-out $(GAPS),$(PARTS))
test-lanes:
	@$(LANES)

# Four lanes, and a fifth for the gaps that they leave at first. Each takes the next part of the list when it has ended one:
# first the longest of those that compute, and those that wait for an Airflow most of the time, so that no part is alone at
# the end; as one part, those of PostgreSQL would wait for 24 minutes. What waits has a turn of the processor at once when it
# wants one: the view's tests, one step after the other, take three minutes less by that.
# With three lanes, two processors have nothing to do for a sixth of the time; with four hardly ever; with five, each part
# takes a fifteenth more of them. So the fifth is one that waits for nothing, and that has a processor only while no other
# part wants it; it is over after five minutes. With a second one after it, the others take a tenth more for what they do.
# Each says what took it longest, and what of the processor it took beside its budget in tests/budgets.json. What failed is
# told once more at the end, a line each.
$(PARTS): SHELL = bash
$(PARTS): TURN = nice -n 10
$(PARTS): $(READY)
	@$(FIRST) $(SPARK) PART=$(@:test-%=%) $(TURN) $(VENV)/bin/python -m pytest -p no:cacheprovider --durations=20 $(TESTS) \
	  > >(tee $(VENV)/$@.log | while IFS= read -r line; do echo "$(@:test-%=%) | $$line"; done) 2>&1

test-postgresql-a test-postgresql-f test-sqlite test-wheel test-view: TURN =
$(GAPS): TURN = $(shell chrt --idle 0 true 2>/dev/null && echo chrt --idle 0 || echo nice -n 19)
test-sqlite: TESTS = tests/scheduler -k sqlite -m "not long"
test-postgresql-a: TESTS = tests/scheduler/test_[a-e]*.py -k postgresql -m "not long" # by the first letters of files
test-postgresql-f: TESTS = tests/scheduler/test_[f-z]*.py -k postgresql -m "not long"
# Without Airflow, but for its calendars and connections.
ALONE = core storage conformance
# Parts of their own.
ELSEWHERE = tests/scheduler tests/packaging/test_wheel.py tests/packaging/test_upgrade.py tests/view
# To import the other files, and take none of their tests, would be a quarter of a minute.
SPARK_FILES = $(filter-out $(ELSEWHERE:%=%%),$(shell grep -rl --include='test_*.py' 'mark\.spark' tests | sort))
test-spark: TESTS = $(SPARK_FILES) -m "spark and not long"
# The others have Java later, and begin meanwhile. As a target it needs, the archive would give its turn to another part.
test-spark: FIRST = MAKEFLAGS= $(MAKE) --no-print-directory VENV=$(VENV) LOCK=$(LOCK) $(CLASSES) &&
test-rest: TESTS = $(ELSEWHERE:%=--ignore %) $(ALONE:%=--ignore tests/%) -m "not spark and not long"
$(ALONE:%=test-%): TESTS = $(@:test-%=tests/%) -m "not spark and not long"
test-wheel: TESTS = tests/packaging/test_wheel.py tests/packaging/test_upgrade.py -m "not long"
test-view: TESTS = tests/view -m "not long"

# What takes more steps, and state machines other ones, if it is told to.
HUNTERS = $(shell grep -rlE 'import (HUNT|effort)' tests --include='test_*.py')

test-long: $(READY) $(CLASSES) ## what `make test` leaves out: models ten times as long, other Sparks, lowest versions, all on SQLite
	@$(SPARK) { failed=0; \
	  SPARKS=3.5,4.0,4.1,4.2,4.3 $(VENV)/bin/python -m pytest -m long $(ARGS) || failed=1; \
	  HUNT=10 $(VENV)/bin/python -m pytest $(HUNTERS) $(ARGS) || failed=1; exit $$failed; }

# What crosses each import of Airflow's, and what its next release changes for us.
CROSSING = tests/test_airflow_imports.py tests/engine/ledger tests/engine/timetables/test_runtime.py \
  tests/operate/absent/test_absent.py tests/operate/absent/test_draining.py tests/view/test_apps.py

test-versions: $(READY) ## some minutes with Airflow's newest pre-release, the lowest versions of what the package needs, a newer Python
	@$(MAKE) --no-print-directory --jobs=2 --keep-going $(VERSIONS)

crossing-pre-release crossing-lowest: crossing-%: $(READY)
	@$(RUN) tools/lock_for.sh $* $(VENV)/$*.lock
	@$(MAKE) --no-print-directory crossing VENV=.venv-$* LOCK=$(VENV)/$*.lock TOLD='$*'

crossing-python: $(READY)
	@python="$$(tools/newest_python.sh)"; if [ -n "$$python" ]; then \
	  $(MAKE) --no-print-directory crossing VENV=.venv-python PYTHON="$$python" TOLD=python; \
	else echo 'no newer Python is here: tested with the one of $(VENV) alone'; fi

crossing: SHELL = bash
crossing: $(READY)
	@$(SPARK) { $(VENV)/bin/python -c 'import sys, airflow; print("Python %d.%d," % sys.version_info[:2], "Airflow", airflow.__version__)' \
	  && $(VENV)/bin/python -m pytest -p no:cacheprovider --durations=5 $(CROSSING) $(ARGS); } \
	  > >(while IFS= read -r line; do echo "$(TOLD:%=% | )$$line"; done) 2>&1

# Without Spark's and Airflow's processes, in which nothing is counted.
coverage: $(READY) ## which lines the tests without Spark and without a scheduler reach: a figure, not a goal
	@rm -rf .coverage
	@$(SPARK) $(VENV)/bin/python -m coverage run -m pytest $(ELSEWHERE:%=--ignore %) -m "not spark and not long" $(ARGS)
	@$(VENV)/bin/coverage combine --quiet && $(VENV)/bin/coverage report

dist: $(READY) ## wheel and source, and their checksums, in dist/
	@rm -rf dist && $(VENV)/bin/uv build --quiet --no-build-isolation --python $(VENV)/bin/python
	@cd dist && sha256sum *.whl *.tar.gz | tee SHA256SUMS

# What runs on Spark's driver, whose Python may be older than Airflow's.
DRIVER_SIDE = core checks frames storage spark.program spark.driver spark.running_job spark.connect.client_driver

lint: lint-python lint-view ## what needs no run: ruff and mypy, and tsc, eslint and prettier for the view's sources

lint-python: $(READY) ## ruff and mypy
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/mypy
	@$(VENV)/bin/mypy --python-version 3.10 --cache-dir .mypy_cache/driver $(DRIVER_SIDE:%=--package airflow_partitions.%)

lint-view: $(READY) ## tsc, eslint and prettier, for the sources of the view
	@$(RUN) && tools/node_modules.sh && cd airflow_partitions/view/www && npm run --silent check

lock: $(READY) ## make requirements.lock again; ARGS=--upgrade for newer versions
	@$(VENV)/bin/uv --system-certs pip compile pyproject.toml --all-extras --group demo --group docs --group test --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' --quiet $(ARGS) --output-file requirements.lock

bench: $(READY) ## the benchmarks, side by side with Dagster
	@$(SPARK) $(VENV)/bin/python -m benchmarks $(ARGS)

view: $(READY) ## what browsers load, from its sources: checked, tested and built
	@$(RUN) tools/view.sh

docs: $(READY) ## the documentation as a site: build/site/index.html; any warning is an error
	@$(RUN) NO_MKDOCS_2_WARNING=1 PYTHONPATH=. mkdocs build --strict $(ARGS)

$(READY): $(LOCK) pyproject.toml tools/environment.sh
	@tools/environment.sh $(VENV) $(LOCK)

# Jobs of the tests start with it, in some 40% less processor time.
$(CLASSES): $(READY) airflow_partitions/spark/class_archive.py
	@$(SPARK) AIRFLOW_HOME="$$(mktemp -d)" airflow asset-partitions spark-classes $(abspath $@) >&2
