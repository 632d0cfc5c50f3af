# kp: what people do with this folder. `make help` lists it. Everything that a target needs and the machine lacks is
# installed first: Debian packages with apt-get (sudo when not root), Python packages into .venv, the SwiftShader driver into
# .drivers. Stamps in .venv and build/stamps keep that from being done twice.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
WERROR ?= OFF
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

RELEASE := build/release
STAMPS := build/stamps
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
RESULTS := python3 tools/results.py
MATRIX := python3 tools/run_matrix.py
PROBE := $(RELEASE)/tests/matrix/kp_probe
PYTEST := $(BIN)/python -m pytest -q -p no:cacheprovider
CTEST := ctest --no-tests=error --output-on-failure --test-output-size-passed 1000000 --test-output-size-failed 1000000

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')
PACKAGE_FILES := $(shell find CMakeLists.txt CMakePresets.json cmake include src python pyproject.toml README.md \
                         -type f ! -name '*.pyc' 2>/dev/null)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo build python test test-unit test-compile test-gpu test-python test-install test-docs \
        asan tsan soak fuzz random bench format format-check lint wheel install drivers clean distclean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMPS)/system-run build $(STAMPS)/python ## Set everything up, then train a small model on the best device here
	@$(BIN)/python examples/python/demo.py

# ---- set-up ---------------------------------------------------------------------------------------------------------

$(STAMPS)/system-%: tools/setup_system.sh
	@tools/setup_system.sh $*
	@mkdir -p $(@D) && touch $@

.venv/stamp-build: pyproject.toml | $(STAMPS)/system-build
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { echo "making .venv" && rm -rf .venv && python3 -m venv .venv; }
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group build
	@touch $@

.venv/stamp-test .venv/stamp-lint: .venv/stamp-%: .venv/stamp-build pyproject.toml
	@$(PIP) install --group $*
	@touch $@

drivers: $(STAMPS)/system-run ## Fetch the two CPU drivers that the tests run on: lavapipe, SwiftShader
	@tools/get_swiftshader.sh
	@echo 'to run a program on one of them: eval "$$(tools/run_matrix.py --env swiftshader)", or --env lavapipe, and run it in that shell'

# ---- build ----------------------------------------------------------------------------------------------------------

build: $(STAMPS)/system-build ## Build the C library and the tools into build/release
	@cmake --preset release -DKP_WERROR=$(WERROR) >$(STAMPS)/configure.log || { cat $(STAMPS)/configure.log; false; }
	@cmake --build --preset release

# The same folder, with all that the tests need.
build-tests: $(STAMPS)/system-build $(STAMPS)/system-run $(STAMPS)/system-test
	@cmake --preset release -DKP_WERROR=$(WERROR) -DKP_TESTS=ON -DKP_EXAMPLES=ON >$(STAMPS)/configure.log || \
		{ cat $(STAMPS)/configure.log; false; }
	@cmake --build --preset release
.PHONY: build-tests

# The package as users get it, installed into .venv.
$(STAMPS)/python: .venv/stamp-build $(PACKAGE_FILES)
	@echo "building the Python package"
	@$(PIP) install --no-deps --no-build-isolation --force-reinstall -C build-dir=build/python -C cmake.define.KP_WERROR=$(WERROR) .
	@mkdir -p $(@D) && touch $@

python: build $(STAMPS)/python ## Build the Python package and install it into .venv

wheel: .venv/stamp-build ## Build dist/kp-*-cp311-abi3-*.whl
	@$(PIP) wheel --no-deps --no-build-isolation -C build-dir=build/python -w dist .
	@ls dist/*.whl

install: build ## Install the C library and the tools under PREFIX (default /usr/local)
	@cmake --install $(RELEASE) --prefix $(PREFIX)

# ---- tests ----------------------------------------------------------------------------------------------------------

TESTS := test-unit test-compile test-gpu test-python test-install test-docs

test: $(STAMPS)/system-build ## Set everything up, then run every test on every driver
	@[ -n "$(KEEP_RESULTS)" ] || $(RESULTS) clear
	@$(MAKE) --no-print-directory --keep-going $(TESTS); $(RESULTS) sum --make-status $$?

test-unit: build-tests .venv/stamp-test ## What needs no device: unit tests, headers, layers, tools
	@$(RESULTS) run headers-documented -- python3 tools/check_headers.py
	@$(RESULTS) run layers -- python3 tools/check_layers.py
	@$(RESULTS) run tools -- $(PYTEST) tests/tools --junitxml {junit}
	@$(RESULTS) run headers -- $(CTEST) --test-dir $(RELEASE)/tests/headers -j$(JOBS) --output-junit {junit}
	@$(RESULTS) run unit -- $(CTEST) --test-dir $(RELEASE)/tests/unit -j$(JOBS) --output-junit {junit}

test-compile: build-tests ## Kernels that compile, and kernels that must not
	@$(RESULTS) run compile -- $(CTEST) --test-dir $(RELEASE)/tests/compile -j$(JOBS) --output-junit {junit}

test-gpu: build-tests drivers ## The C runtime, on every driver
	@$(MATRIX) gpu --probe $(PROBE) -- $(CTEST) --test-dir $(RELEASE)/tests/gpu -j$(JOBS) --output-junit {junit}
	@$(MATRIX) faults -- $(CTEST) --test-dir $(RELEASE)/tests/faults --output-junit {junit}
	@$(MATRIX) soak -- $(CTEST) --test-dir $(RELEASE)/tests/soak --output-junit {junit}
	@$(MATRIX) examples-c -- $(CTEST) --test-dir $(RELEASE)/examples/c -j$(JOBS) --output-junit {junit}

test-python: build-tests drivers .venv/stamp-test $(STAMPS)/python ## The Python package and the examples, on every driver
	@$(MATRIX) python --jobs 2 --probe $(PROBE) -- $(PYTEST) tests/python --junitxml {junit}

test-install: build-tests drivers .venv/stamp-test ## What is installed: find_package, pkg-config, pip, wheel
	@$(RESULTS) run install -- $(PYTEST) tests/install --junitxml {junit}

test-docs: build-tests drivers .venv/stamp-test $(STAMPS)/python ## Every snippet in README.md and docs/
	@$(RESULTS) run docs -- $(PYTEST) tests/docs --junitxml {junit}

SANITIZED := $(STAMPS)/system-build $(STAMPS)/system-test drivers

asan: asan-unit ## The tests in C under the address and undefined-behaviour sanitizers
	@$(MATRIX) asan-gpu --drivers lavapipe -- $(CTEST) --test-dir build/asan/tests/gpu -j$(JOBS) --output-junit {junit}
	@$(MATRIX) asan-faults --drivers lavapipe -- $(CTEST) --test-dir build/asan/tests/faults --output-junit {junit}

# What needs no device.
asan-unit: $(SANITIZED)
	@cmake --preset asan >$(STAMPS)/configure.log || { cat $(STAMPS)/configure.log; false; }
	@cmake --build --preset asan
	@$(RESULTS) run asan-unit -- $(CTEST) --test-dir build/asan/tests/unit -j$(JOBS) --output-junit {junit}
	@$(RESULTS) run asan-compile -- $(CTEST) --test-dir build/asan/tests/compile -j$(JOBS) --output-junit {junit}
.PHONY: asan-unit

tsan: tsan-configured ## The tests in C under the thread sanitizer
	@cmake --build --preset tsan
	@$(RESULTS) run tsan-unit -- $(CTEST) --test-dir build/tsan/tests/unit -j$(JOBS) --output-junit {junit}
	@KP_THREAD_ROUNDS=all $(MATRIX) tsan-gpu --drivers lavapipe --no-validation -- $(CTEST) --test-dir build/tsan/tests/gpu -j$(JOBS) --output-junit {junit}

tsan-configured: $(SANITIZED)
	@cmake --preset tsan >$(STAMPS)/configure.log || { cat $(STAMPS)/configure.log; false; }
.PHONY: tsan-configured

# What CI runs of these: what needs no device, every order of destruction, and eight threads on one manager.
sanitizers: asan-unit tsan-configured
	@$(MATRIX) asan-lifetime --drivers lavapipe -- $(CTEST) --test-dir build/asan/tests/gpu -R '^gpu.lifetime$$' --output-junit {junit}
	@cmake --build --preset tsan --target gpu_lifetime gpu_threads
	@KP_THREAD_ROUNDS=all $(MATRIX) tsan-threads --drivers lavapipe --no-validation -- $(CTEST) --test-dir build/tsan/tests/gpu -R '^gpu.(lifetime|threads)$$' --output-junit {junit}
.PHONY: sanitizers

soak: build-tests drivers .venv/stamp-test $(STAMPS)/python ## Memory over a million evaluations, and long random runs
	@$(MATRIX) soak-long --no-validation --timeout 7200 -- $(RELEASE)/tests/soak/soak
	@KP_STATE_MACHINE=2000 $(MATRIX) random-calls --timeout 7200 -- $(PYTEST) tests/python/test_state_machine.py --junitxml {junit}

KP_FUZZ_SECONDS ?= 60

fuzz: $(STAMPS)/system-build $(STAMPS)/system-test $(STAMPS)/system-lint ## Fuzz the compiler and the SPIR-V reader, KP_FUZZ_SECONDS=60 each
	@cmake --preset fuzz -DKP_FUZZ_SECONDS=$(KP_FUZZ_SECONDS) >$(STAMPS)/configure.log || { cat $(STAMPS)/configure.log; false; }
	@cmake --build --preset fuzz --target fuzz_run

# CI runs 2,000 of these with the other Python tests.
random: build-tests drivers .venv/stamp-test $(STAMPS)/python ## Compare 100,000 random kernels with CPython, on every driver: hours
	@KP_RANDOM_KERNELS=25000 $(MATRIX) random --jobs 2 --timeout 86400 --probe $(PROBE) -- \
		$(PYTEST) tests/python/test_language_random.py --junitxml {junit}

bench: $(STAMPS)/system-run $(STAMPS)/python ## Measure, and print ratios
	@cmake --preset release -DKP_BENCH=ON >$(STAMPS)/configure.log || { cat $(STAMPS)/configure.log; false; }
	@cmake --build --preset release
	@$(BIN)/python bench/run.py --build $(RELEASE)

# ---- style ----------------------------------------------------------------------------------------------------------

format: $(STAMPS)/system-lint .venv/stamp-lint ## Format all C and Python
	@clang-format -i $(C_FILES)
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --select I --fix .

format-check: $(STAMPS)/system-lint .venv/stamp-lint ## Fail if anything is not formatted
	@clang-format --dry-run --Werror $(C_FILES)
	@$(BIN)/ruff format --quiet --check .

lint: $(STAMPS)/system-lint .venv/stamp-lint build-tests ## clang-tidy, ruff, mypy, and a look with 32 bits
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@python3 tools/check_32bit.py $(RELEASE)
	@run-clang-tidy -quiet -p $(RELEASE) -j $(JOBS) '/src/.*\.c$$' >build/clang-tidy.log 2>&1 || { cat build/clang-tidy.log; false; }

clean: ## Remove what was built; .venv and .drivers stay
	rm -rf build dist

distclean: clean ## Remove .venv and .drivers too
	rm -rf .venv .drivers
