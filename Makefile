# Thin targets: what a person types. Each does the set-up it needs.
BACUS := target/release/bacus
# Where rustup puts its tool chain, should the shell not look there yet.
export PATH := $(HOME)/.cargo/bin:$(PATH)
OUT ?= out
P4C ?=
STF ?=
ERRORS ?=
VECTORS ?=
BMV2_JSON ?=
FORMS ?=
EVERY ?=
PLANS ?=
QUICK ?=
# `make` itself has a CC; only one that the user names counts.
COMPILER := $(if $(filter-out default undefined,$(origin CC)),--cc "$(CC)")
RIB ?=
CLIENT ?=
SINCE ?= HEAD
TEST ?=
DPDK ?=
DIRS ?=
RARE ?=
COUNT ?=
SECONDS ?= 600
# Another one each time; what is printed names it.
SEED ?= $(shell date +%s)
PROGRAMS ?= 100
PREFIX ?= /usr/local
DESTDIR ?=
# Names of BMv2 and p4c under which the command understands their flags (docs/dropin.md).
DROPIN ?= simple_switch simple_switch_grpc bacus-grpc simple_switch_CLI p4c p4c-bm2-ss
NAMES ?=
CORPUS ?=

.PHONY: help setup build install deb demo test test-quick test-clients test-dropin applications fresh bench bench-lookup scoreboard duel sweep conformance fuzz oracle mutations clean report

help:
	@echo "make setup        install what is missing (the only step that may need root)"
	@echo "make build        the command $(BACUS)"
	@echo "make install      the command, stripped, the names of DROPIN, and what a program needs that embeds pipelines [PREFIX=/usr/local] [DESTDIR=DIR] [DROPIN=]"
	@echo "make deb          the command as a Debian package, with its unit, manual pages and completions [OUT=DIR]"
	@echo "make demo         compile a switch, send a capture through DPDK ports, show what happened"
	@echo "make test         every test; with P4C=DIR STF=LIST also each seventh [EVERY=7] STF file of the p4c corpus, under every plan"
	@echo "make test-quick   the tests of the crates that changed since a commit, and what they left out [SINCE=HEAD]"
	@echo "make test-clients finsy, p4runtime-shell and PTF on a switch in a network namespace [CLIENT=finsy] [TEST=finsy_test.Tables]"
	@echo "                  CHECKOUTS=\"DIR ...\" has checkouts of finsy, p4lang/tutorials, ngsdn-tutorial: their examples and tests as well"
	@echo "make test-dropin  setups for BMv2 by others, started by its names: DIRS=\"DIR ...\" has checkouts of Kathara-Labs, tutorials, behavioral-model, p4c, p4-utils, p4-learning, mininet"
	@echo "                  with BMV2_SWITCH=DIR of a built simple_switch, beside that; ONLY=rates runs one part"
	@echo "make applications all applications on both engines, with 100,000 random packets each and sanitizers [COUNT=N]"
	@echo "make fresh        the first two commands of README in a new Debian 12 [DIR=DIR]; needs root and debootstrap"
	@echo "make sweep        is the model's pick the best plan? a grid of plans, measured [OUT=DIR]"
	@echo "make bench        what the applications cost on this machine [OUT=DIR] [QUICK=1] [CC=clang] [RIB=FILE] [DPDK=DIR]"
	@echo "make report       the papers' experiments, on a page and as PDF [OUT=DIR] [QUICK=1] [CC=clang] [RIB=FILE] [DPDK=DIR]"
	@echo "make scoreboard   programs of others, plain and planned: DIRS=\"DIR ...\" has checkouts of p4c, RARE-bmv2, ngsdn-tutorial, tutorials"
	@echo "make duel         freeRtr's router.p4 beside freeRtr's own data plane in C: RARE=\"DIR ...\" has checkouts of RARE-bmv2 and freeRtr [QUICK=1]"
	@echo "make conformance  the p4c corpus: P4C=DIR [STF=LIST] [ERRORS=LIST] [VECTORS=DIR] [BMV2_JSON=DIR] [FORMS=1] [PLANS=all]"
	@echo "                  [SANITIZE=1] with the address and undefined-behaviour sanitizers in native code"
	@echo "make bench-lookup our tables' lookups beside DPDK's [RIB=FILE] [QUICK=1]"
	@echo "make oracle       random programs: the compiler beside a second evaluator of P4 [SECONDS=600] [SEED=N] [EVERY=50: one in EVERY as native code]"
	@echo "make mutations    mistakes put into lowering: does the oracle see each? [PROGRAMS=100] [NAMES=\"A B\": these alone]"
	@echo "make fuzz         random texts for the frontend and the IR's reader [SECONDS=600] [CORPUS=DIR of more programs]"

setup:
	@scripts/setup

build: setup
	cargo build --release -p cli

# What the command is made of and is newer than it.
NEWER = find crates runtime include bench/peers bench/forwarders Cargo.toml Cargo.lock '(' -name tests -o -name test ')' -prune -o -type f -newer $(BACUS) -print -quit

# Builds nothing where the command is there and up to date: root need not have a tool chain of its own.
install:
	@if [ ! -e $(BACUS) ] || [ -n "$$($(NEWER))" ]; then \
		if [ $(BACUS) = target/release/bacus ] && command -v cargo >/dev/null; then cargo build --release -p cli; \
		else echo "install: $(BACUS) is missing, or older than its sources: run \`make build\` as a user with a Rust tool chain first" >&2; exit 3; fi; \
	fi
	install -d $(DESTDIR)$(PREFIX)/bin
	install -s -m 755 $(BACUS) $(DESTDIR)$(PREFIX)/bin/bacus
	$(foreach name,$(DROPIN),ln -sf bacus $(DESTDIR)$(PREFIX)/bin/$(name);)
	@$(MAKE) --no-print-directory -C runtime install PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)"

deb: build
	@scripts/deb $(BACUS) $(OUT)

# Built for less time and room than a switch for use.
demo: setup
	cargo build --profile demo -p cli
	@scripts/demo target/demo/bacus $(OUT)/demo

test: setup
	@P4C="$(P4C)" STF="$(STF)" EVERY="$(EVERY)" OUT="$(OUT)" scripts/test

test-quick: setup
	@scripts/test-quick $(SINCE)

test-clients: setup
	cargo build -p cli
	@CHECKOUTS="$(CHECKOUTS)" scripts/test-clients target/debug/bacus $(OUT)/clients "$(CLIENT)" $(TEST)

test-dropin: setup
	cargo build -p cli
	@DIRS="$(DIRS)" scripts/test-dropin target/debug/bacus $(OUT)/dropin

applications: build
	@scripts/applications $(BACUS) $(or $(COUNT),100000)

fresh:
	scripts/fresh $(DIR)

sweep: build
	$(BACUS) bench --sweep --traffic uniform --bursts 32,64 $(COMPILER) --out $(OUT)/sweep

bench: build
	$(BACUS) bench --out $(OUT)/bench $(COMPILER) $(if $(QUICK),--quick) $(if $(RIB),--rib "$(RIB)") $(if $(DPDK),--dpdk "$(DPDK)")
	$(if $(DPDK),scripts/device "$(DPDK)" $(OUT)/bench $(BACUS))

# An experiment that fails does not keep the others from the page.
report: build
	@failed=; \
	$(BACUS) bench --experiment papers --out $(OUT)/report $(COMPILER) $(if $(QUICK),--quick) $(if $(RIB),--rib "$(RIB)") $(if $(DPDK),--dpdk "$(DPDK)") \
		|| failed=1; \
	$(BACUS) bench report $(OUT)/report --to $(OUT)/report/report.html && test -z "$$failed"

scoreboard:
	@test -n "$(DIRS)" || { echo "make scoreboard DIRS=\"DIR ...\": name the checkouts that have the programs of bench/scoreboard/programs.toml"; exit 2; }
	@$(MAKE) --no-print-directory build
	$(BACUS) bench --scoreboard bench/scoreboard/programs.toml $(foreach dir,$(DIRS),--in "$(dir)") $(COMPILER) --out $(OUT)/scoreboard

duel:
	@test -n "$(RARE)" || { echo "make duel RARE=\"DIR ...\": name checkouts of github.com/rare-freertr/RARE-bmv2 and github.com/rare-freertr/freeRtr, or one directory that holds both"; exit 2; }
	@$(MAKE) --no-print-directory build
	$(BACUS) bench --duel $(foreach dir,$(RARE),--in "$(dir)") $(COMPILER) $(if $(QUICK),--quick) --out $(OUT)/duel

bench-lookup:
	$(MAKE) -C bench/lookup OUT="$(abspath $(OUT))/bench" ARGUMENTS="$(if $(RIB),--rib $(abspath $(RIB)))$(if $(QUICK), --quick)"

conformance:
	@test -n "$(P4C)" || { echo "make conformance P4C=DIR: name a checkout of p4c (the directory with p4include and testdata)"; exit 2; }
	@$(MAKE) --no-print-directory build
	cargo run --release -q -p tests --bin conformance -- --p4c "$(P4C)" --bacus $(BACUS) --out $(OUT)/conformance.txt \
		--exempt tests/conformance-exempt.txt --externs tests/externs \
		$(if $(STF),--stf "$(STF)") $(if $(ERRORS),--errors "$(ERRORS)") $(if $(VECTORS),--vectors "$(VECTORS)") $(if $(BMV2_JSON),--bmv2-json "$(BMV2_JSON)") $(if $(FORMS),--forms) \
		$(if $(filter all,$(PLANS)),--all-plans) $(if $(SANITIZE),--sanitize)

fuzz: setup
	@scripts/fuzz $(SECONDS) $(CORPUS)

oracle: build
	cargo build --release -q -p oracle
	target/release/oracle random --seed $(SEED) --seconds $(SECONDS) --out $(OUT)/oracle --native $(BACUS) --every $(or $(EVERY),50)

mutations: setup
	@OUT="$(OUT)" scripts/mutations $(PROGRAMS) $(NAMES)

clean:
	cargo clean
	rm -rf $(OUT)
