# Everything that a person or a build machine does with this repository, one target each: `make help` lists them.
# Sets up what a target needs and is missing; installs system packages only for `make test`, and only as root.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run test fmt deny schema bench fuzz brush-edit brush-save tools-build tools-test

CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
# What `make run` and `make bench` build; `make bench PROFILE=dist` measures what packages ship.
PROFILE = release
BUILT := $(TARGET_DIR)/$(PROFILE)

# Programs that tests call, as program:package.
TEST_TOOLS := bash:bash dash:dash strace:strace busybox:busybox-static python3:python3 script:bsdutils unshare:util-linux

# What compiles the kernel's probes and the library that they are tested against: programs as above, and headers as file:package.
PROBE_TOOLS := clang:clang pkg-config:pkg-config
PROBE_HEADERS := bpf/bpf_helpers.h:libbpf-dev libelf.h:libelf-dev zlib.h:zlib1g-dev

# What `make run` runs where no CMD is given.
define DEMO
printf 'pear\nfig\napple\n' > "$$TMPDIR/fruit"
grep kiwi "$$TMPDIR/fruit" || echo 'no kiwi'
for name in $$(sort "$$TMPDIR/fruit" | head -n 2); do echo "$$name" | tr a-z A-Z; done
endef

# `value` takes CMD as it was typed: make neither expands a dollar sign in it nor hands it to a shell as text. The shell of the
# recipe reads it from its environment.
export NASH_RUN_COMMAND := $(value CMD)
unexport CMD
export NASH_RUN_DEMO := $(subst $$$$,$$,$(value DEMO))

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F@ '{ printf "%-18s %s\n", $$1, $$2 }'

run: tools-build ## Run CMD='…' under nash and print its story after its output
	$(CARGO) build --profile $(PROFILE) --locked -p nash -p nash-correlator --bins
	@if command -v clang >/dev/null && [ -e /usr/include/bpf/bpf_helpers.h ]; then \
	    $(CARGO) build --profile $(PROFILE) --locked -p nash-ebpf --bins || \
	    echo 'nash-ebpf was not built: the story has the shell'"'"'s side only' >&2; \
	fi
	@command=$$NASH_RUN_COMMAND; \
	if [ -z "$$command" ]; then \
	    command=$$NASH_RUN_DEMO; \
	    TMPDIR=$$(mktemp -d) && export TMPDIR && trap 'rm -rf "$$TMPDIR"' EXIT; \
	    printf '\nNo CMD was given; this is run instead:\n%s\n\n' "$$command"; \
	fi; \
	"$(BUILT)/nash-correlate" run "-c=$$command"

test: tools-test ## Check formatting and lints, build the programs, run every test
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --features nash-events/schema --locked -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(MAKE) --no-print-directory deny; \
	else echo 'cargo-deny is not installed: licences and sources are not checked (make deny)'; fi
	$(CARGO) build --workspace --bins --locked
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
	    $(CARGO) test --workspace --doc --features nash-events/schema --locked && \
	    $(CARGO) nextest run --no-fail-fast --workspace --features nash-events/schema --locked; \
	else \
	    $(CARGO) test --workspace --features nash-events/schema --locked; \
	fi

fmt: tools-build ## Format the code
	$(CARGO) fmt --all

deny: ## Check licences and sources of every dependency with cargo-deny
	@$(CARGO) deny --version >/dev/null 2>&1 || { echo 'cargo-deny is missing: cargo install --locked cargo-deny' >&2; exit 1; }
	$(CARGO) deny --all-features check licenses bans sources

schema: tools-build ## Write the JSON schemas of the formats anew
	NASH_BLESS=1 $(CARGO) test -p nash-events --features schema --locked schema

bench: tools-build ## Measure nash and the correlator and print tables (about 4 minutes); ARGS are passed on
	$(CARGO) build --profile $(PROFILE) --locked -p nash -p nash-correlator -p nash-benches --bins
	"$(BUILT)/nash-benches" --nash "$(BUILT)/nash" $(ARGS)

fuzz: tools-build ## Fuzz every input format for SECONDS each (60), or TARGETS alone; needs cargo-fuzz and clang
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { echo 'cargo-fuzz is missing: cargo install --locked cargo-fuzz' >&2; exit 1; }
	$(CARGO) build --locked -p nash -p nash-correlator --bins
	correlator/fuzz/run.sh "$(abspath $(TARGET_DIR))/debug/nash" $(or $(SECONDS),60) "$(abspath $(TARGET_DIR))/fuzz" $(TARGETS)

brush-edit: tools-build ## Lay patched brush out in brush/edit, one commit a patch
	$(CARGO) run -q -p brush-patching --bin brush-series -- edit

brush-save: tools-build ## Write the patches anew from brush/edit
	$(CARGO) run -q -p brush-patching --bin brush-series -- save

# Cargo says itself when the compiler is too old for the workspace.
tools-build:
	@command -v $(CARGO) >/dev/null || { \
	    echo 'cargo is missing: install Rust 1.95 or later, see https://rustup.rs' >&2; exit 1; }
	@command -v cc >/dev/null || { \
	    echo 'a C linker (cc) is missing: on Debian, apt-get install gcc libc6-dev' >&2; exit 1; }

tools-test: tools-build
	@for part in fmt clippy; do \
	    $(CARGO) $$part --version >/dev/null 2>&1 && continue; \
	    command -v rustup >/dev/null && rustup component add rustfmt clippy && break; \
	    echo "cargo $$part is missing: add rustfmt and clippy to this Rust installation" >&2; exit 1; \
	done
	@missing=; \
	for tool in $(TEST_TOOLS) $(PROBE_TOOLS); do \
	    command -v "$${tool%%:*}" >/dev/null || missing="$$missing $${tool##*:}"; \
	done; \
	for header in $(PROBE_HEADERS); do \
	    [ -e "/usr/include/$${header%%:*}" ] || missing="$$missing $${header##*:}"; \
	done; \
	if [ -n "$$missing" ]; then \
	    if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	        apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $$missing; \
	    else \
	        echo "the tests need these packages, which only root can install:$$missing" >&2; exit 1; \
	    fi; \
	fi
