SHELL := /bin/sh
.SHELLFLAGS := -euc
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --warn-undefined-variables

PYTHON ?= python3
BIN := .venv/bin
ENGINE ?=
# Tests wait for Spark, stores and other processes for a quarter of the time: three run at a time on two cores.
JOBS ?= 3
LOGS ?= $(wildcard tests/data/*/*/log-*)
RUNNER ?=
TARGET ?=
OUT ?=
OPTIONS ?=
# With UV=false pip installs alone: slower, but it reads pip.conf.
UV ?= $(BIN)/uv

# HOME may be empty, read-only or missing: whatever a tool would keep there is kept here.
export XDG_CACHE_HOME := $(CURDIR)/.cache
export UV_CACHE_DIR := $(CURDIR)/.cache/uv
export SPARK_LOCAL_DIRS := $(CURDIR)/.cache/spark
export npm_config_cache := $(CURDIR)/.cache/npm
export npm_config_update_notifier := false

# Behind a proxy that signs for the registries, its certificate is in the system's store.
export UV_SYSTEM_CERTS := 1
export NODE_USE_SYSTEM_CA := 1

# Another Spark or another project's modules must not shadow what is locked here, and without
# .pyc files each of Spark's Python processes would take seconds to import.
unexport PYTHONHOME PYTHONPATH PYTHONDONTWRITEBYTECODE
unexport SPARK_HOME SPARK_CONF_DIR PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-16s %s\n", $$1, $$2 }' Makefile

.PHONY: kernels
kernels: .venv/run ## Build the machine code of the kernels for this processor, in .cache/kernels
	@$(BIN)/python -m magicbyte_tools.kernels

.PHONY: run
run: kernels ## Read a real broker's log directory into Parquet and a report, in out/
	$(BIN)/magicbyte pipeline tests/data/2.8/lives/log-0 out --overwrite

.PHONY: test
test: .venv/dev ## Check everything, and run the tests
	@$(MAKE) --no-print-directory --jobs=2 lint check-generated dist test-modules
	$(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

# The processes of a run collect at the same time: without .pyc files, each would compile all modules.
# Types are checked for most of a minute on one core, and the other one has time for this.
.PHONY: test-modules
test-modules: .venv/dev kernels
	@$(BIN)/python -m pytest --collect-only --quiet >/dev/null 2>&1 || true

.PHONY: test-wide
test-wide: .venv/dev kernels ## Run the tests with every case of which `make test` tries a part, for hours
	MAGICBYTE_WIDE=1 $(BIN)/python -m pytest --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder

.PHONY: test-fast
test-fast: .venv/dev kernels ## Formatting, and the quick tests of each module, in less than a minute
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/python -m pytest --fast --quiet --numprocesses $(JOBS) --dist worksteal

.PHONY: lint
lint: .venv/dev ## Formatting, imports, types, and the style of the specification
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/lint-imports --no-cache
	$(BIN)/mypy
	$(BIN)/python -m magicbyte_tools.generate.lint

.PHONY: generate
generate: .venv/dev ## Write generated/ from spec/
	$(BIN)/python -m magicbyte_tools.generate
	$(BIN)/python -m magicbyte_tools.viewer

.PHONY: check-generated
check-generated: .venv/dev ## Fail if generated/ or a generated page of docs/ is not what its source says
	$(BIN)/python -m magicbyte_tools.generate --check
	$(BIN)/python -m magicbyte_tools.viewer --check
	$(BIN)/python -m magicbyte_tools.reference --check

.PHONY: vectors
vectors: .venv/dev kernels ## Write the cases and the scorer of tests/vectors/, and the links to them in docs/formats/
	$(BIN)/python -m magicbyte_tools.vectors
	$(BIN)/python -m magicbyte_tools.reference

.PHONY: vectors-release
vectors-release: .venv/dev ## Write the vectors as a tarball, and packages for Python, Node, Java and Go, to OUT or dist/vectors
	$(BIN)/python -m magicbyte_tools.vectors --check
	$(BIN)/python -m magicbyte_tools.vectors_release $(or $(OUT),dist/vectors)

.PHONY: conformance
conformance: $(if $(ENGINE),.venv/dev kernels) ## Score an executable on tests/vectors/: RUNNER='command', or ENGINE=name
	$(if $(ENGINE),$(BIN)/python -m magicbyte_tools.conformance --engine $(ENGINE),$(PYTHON) tests/vectors/score.py $(OPTIONS) -- $(RUNNER))

.PHONY: scores
scores: .venv/dev ## Run client libraries on the vectors, and write docs/scores.md: OPTIONS='franz-go sarama'; Go, Rust, Node, Java or Maven, if they are there
	$(BIN)/python -m magicbyte_tools.scores $(OPTIONS)

.PHONY: parsers
parsers: .venv/dev ## Write parsers for another language: TARGET=go OUT=folder
	$(BIN)/python -m magicbyte_tools.parsers $(TARGET) $(OUT)

.PHONY: parsers-check
parsers-check: .venv/dev kernels ## Compare the parsers of all languages here with magicbyte, in a table: TARGET=go for one, LOGS='folder...'; downloads libraries
	$(BIN)/python -m magicbyte_tools.parsers.check $(TARGET) --logs $(LOGS)

.PHONY: parsers-release
parsers-release: .venv/dev ## Write an archive of parsers for each language, to OUT or dist/
	$(BIN)/python -m magicbyte_tools.parsers.release $(OUT)

.PHONY: docs
docs: .venv/dev kernels ## Write the generated pages of docs/: formats, reference, findings, the notebook
	$(BIN)/python -m magicbyte_tools.reference

.PHONY: docs-site
docs-site: .venv/docs/installed ## Write the documentation as a site with search, to OUT or dist/site
	NO_MKDOCS_2_WARNING=1 .venv/docs/bin/python -m mkdocs build --strict --quiet --site-dir $(or $(OUT),dist/site)

.PHONY: pictures
pictures: .venv/dev kernels ## Take the pictures of the report and the viewer, for docs/pictures; Chromium
	$(BIN)/python -m magicbyte_tools.pictures

.PHONY: gallery
gallery: .venv/dev ## Write a pull request to the Kaitai format gallery, to OUT or dist/gallery
	$(BIN)/python -m magicbyte_tools.webide.gallery $(or $(OUT),dist/gallery)

.PHONY: costs
costs: .venv/dev kernels ## Encode the batches of logs in every format, and write docs/costs.md: LOGS='folder...'
	$(BIN)/python -m magicbyte_tools.costs $(LOGS) --out docs/costs.md

.PHONY: bench
bench: .venv/dev kernels ## Measure the engine beside others, and write docs/performance.md: OPTIONS='--mb 16 --cells GLOB'
	$(BIN)/python -m magicbyte_tools.bench $(OPTIONS)

.PHONY: test-brokers
test-brokers: .venv/dev kernels ## Ask Spark's own Kafka source what we are asked, with real brokers: Maven, Java and the folder shared
	MAGICBYTE_BROKERS=1 $(BIN)/python -m pytest tests/brokers $(OPTIONS)

.PHONY: check-kafka
check-kafka: .venv/dev ## Fail if spec/messages lacks a message, version or field of the newest Kafka: Maven, Java
	$(BIN)/python -m magicbyte_tools.generate --check
	$(BIN)/python -m magicbyte_tools.check_kafka $(OPTIONS)

.PHONY: test-spark-versions
test-spark-versions: .venv/dev kernels ## Run the tests of Spark with each release that is supported: OPTIONS='4.0.5 4.2.1'
	tools/spark_versions.sh $(OPTIONS)

.PHONY: mutants
mutants: .venv/dev kernels ## Put small faults into spec/ and runtime/, and count those that the tests find (half an hour)
	$(BIN)/python -m magicbyte_tools.mutants

.PHONY: fuzz
fuzz: .venv/dev kernels ## Give the engines millions of mutated entries between guard pages: OPTIONS='--cases N --seed N LOG...'
	$(BIN)/python -m magicbyte_tools.fuzz $(OPTIONS)

.PHONY: fuzz-corpus
fuzz-corpus: .venv/dev kernels ## Write a corpus for each fuzz target, and for fuzzers of other readers, to OUT or out/fuzz-corpus
	$(BIN)/python -m magicbyte_tools.fuzz.corpus $(or $(OUT),out/fuzz-corpus)

.PHONY: dist
dist: kernels ## Build the wheel for this machine
	rm -rf dist
	$(BIN)/python -m hatchling build --target wheel

.PHONY: dist-all
dist-all: .venv/run ## Build the wheels for all systems and processors, and the one without machine code
	rm -rf dist
	@for machine in linux-x86_64 linux-aarch64 darwin-arm64 any; do \
		MAGICBYTE_WHEEL=$$machine $(BIN)/python -m hatchling build --target wheel; \
	done

.PHONY: release
release: dist-all ## Write all files of a release to dist/: wheels, source, SBOM, licences, checksums; and check them
	tools/release.sh

.PHONY: app
app: dist ## Write dist/magicbyte, one executable file for a machine without Python
	$(UV) venv --quiet --clear .cache/app
	$(UV) pip install --quiet --python .cache/app/bin/python --require-hashes --requirement requirements/app.lock
	$(UV) pip install --quiet --python .cache/app/bin/python --no-deps dist/magicbyte-*.whl
	.cache/app/bin/pyinstaller --noconfirm --log-level ERROR --distpath dist --workpath .cache/app/work tools/magicbyte_tools/app/magicbyte.spec
	dist/magicbyte verify tests/data/2.8/lives/log-0
	dist/magicbyte sql 'select topic, count(*) from records group by topic' tests/data/2.8/lives/log-0
	dist/magicbyte export tests/data/2.8/lives/log-0 -o .cache/app/records.parquet

.PHONY: image
image: dist ## Build the Docker image `magicbyte`
	docker build --tag magicbyte --file tools/Dockerfile .

.PHONY: lock
lock: .venv/run ## Choose newer versions of all dependencies
	$(call compile,dev,pyproject.toml --extra jit --extra spark --group dev)
	$(call compile,run,pyproject.toml --extra jit --extra spark --constraint requirements/dev.lock)
	$(call compile,build,--group build --constraint requirements/dev.lock)
	$(call compile,docs,--group docs --constraint requirements/dev.lock)
	$(call compile,app,pyproject.toml --extra sql --group app --constraint requirements/dev.lock)
	$(call compile,release,--group release --constraint requirements/dev.lock)

.PHONY: prove
prove: ## Run `make run` and `make test` in clean clones: no HOME, no Java, no Node
	tools/prove.sh

.PHONY: clean
clean: ## Delete everything that make has made
	rm -rf .venv .cache dist out

# The locks name versions and hashes, and no registry. Nothing that they do not name is run:
# pyspark comes as source, and --no-build-isolation builds it with the setuptools locked here
# (stored, not compressed: 25 s less).
compile = $(UV) pip compile --quiet --upgrade --universal --generate-hashes --no-annotate \
	--custom-compile-command 'make lock' --output-file requirements/$(1).lock $(2)
pip = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-cache-dir
flags = --no-build-isolation --config-settings=--build-option=--compression=stored
install = $(UV) pip install --python $(BIN)/python $(flags) $(1) || $(pip) $(flags) $(1)

# What installs and builds comes first: pyspark is built with the setuptools that is there by then.
.venv/run: requirements/build.lock requirements/run.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	@$(pip) --require-hashes --requirement requirements/build.lock
	@$(call install,--require-hashes --requirement requirements/run.lock)
	@$(call install,--no-deps --editable .)
	@rm -rf .cache/uv
	@touch $@

.venv/dev: requirements/dev.lock .venv/run
	@$(call install,--require-hashes --requirement requirements/dev.lock)
	@rm -rf .cache/uv
	@touch $@

# MkDocs has an environment of its own: tests do not wait for it, and its dependencies limit no others.
.venv/docs/installed: requirements/docs.lock .venv/run
	@$(PYTHON) -m venv .venv/docs
	@$(UV) pip install --quiet --python .venv/docs/bin/python --require-hashes --requirement $< \
		|| .venv/docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $<
	@rm -rf .cache/uv
	@touch $@
