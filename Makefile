# The four ways in. Everything is installed into .venv; a second call of any target installs nothing.
.PHONY: setup run test lint screenshots
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME_STAMP := $(VENV)/.runtime-installed
TEST_STAMP := $(VENV)/.test-installed

setup: $(RUNTIME_STAMP)

$(RUNTIME_STAMP): pyproject.toml setup.py packaging/requirements.lock packaging/setup_venv.py $(wildcard kernels/cpu/*.cpp kernels/cpu/*.h)
	$(PYTHON) packaging/setup_venv.py $(VENV) packaging/requirements.lock
	touch $@

$(TEST_STAMP): $(RUNTIME_STAMP) packaging/requirements-test.lock
	$(BIN)/python -m pip install --quiet -r packaging/requirements-test.lock
	touch $@

run: setup
	@$(BIN)/haloband

# Two processes: half of one's time goes into waiting. A file's tests share fixtures, so they stay together.
test: $(TEST_STAMP) lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(TEST_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Coverage-guided fuzzing of everything that reads foreign bytes; `make fuzz SECONDS=3600` for longer.
.PHONY: fuzz
SECONDS ?= 600
FUZZ_PACKAGES := build/fuzz/packages
$(FUZZ_PACKAGES)/.installed: packaging/requirements-fuzz.lock $(TEST_STAMP)
	$(BIN)/python -m pip install --quiet --upgrade --target $(FUZZ_PACKAGES) -r packaging/requirements-fuzz.lock
	touch $@

fuzz: $(FUZZ_PACKAGES)/.installed
	PYTHONPATH=$(FUZZ_PACKAGES) $(BIN)/python -m tests.fuzz.run --seconds $(SECONDS)

# The packaged program: dist/haloband is one folder that needs no Python; dist/*.deb is made of it.
.PHONY: bundle deb
BUNDLE_PACKAGES := build/bundle/packages
$(BUNDLE_PACKAGES)/.installed: packaging/requirements-bundle.lock $(RUNTIME_STAMP)
	$(BIN)/python -m pip install --quiet --upgrade --target $(BUNDLE_PACKAGES) -r packaging/requirements-bundle.lock
	touch $@

bundle: $(BUNDLE_PACKAGES)/.installed
	PYTHONPATH=$(BUNDLE_PACKAGES) $(BIN)/python -m PyInstaller --noconfirm --log-level WARN \
		--distpath dist --workpath build/bundle/work packaging/bundle.spec
	dist/haloband/haloband doctor --self-test

deb: bundle
	$(BIN)/python packaging/build_deb.py dist/haloband dist

# Pictures of every page, in both themes, at 100 % and 200 %, in both languages, and of the mirrored window.
# Starts Xvfb where there is no display.
screenshots: setup
	$(BIN)/python packaging/screenshots.py build/screenshots --themes light dark --scales 1 2 --languages en de
	$(BIN)/python packaging/screenshots.py build/screenshots --themes light dark --scales 1 --languages ar
