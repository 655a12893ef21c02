# One profile and one target folder for everything: llama.cpp takes ten minutes of processor time per profile.

CARGO := . scripts/env && cargo

.PHONY: help setup build model demo test bench check clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' Makefile

setup: ## install what building needs, or say what to install
	@scripts/setup

build: setup ## target/release/nightjar
	@$(CARGO) build --release

model: setup ## fetch the small model of the demo and the tests into models/
	@scripts/fetch-model smollm2

demo: model build ## a small sweep on a real model, then its tables
	@scripts/demo

test: model ## all tests, those on a real model included
	@$(CARGO) test --release

bench: ## what masks and choices cost, on the vocabulary of the mask benchmark
	@$(CARGO) bench --no-default-features --bench constraint

check: model ## formatting, lints and tests, with llama.cpp and without
	@$(CARGO) fmt --check
	@$(CARGO) clippy --release --all-targets -- -D warnings
	@$(CARGO) clippy --release --all-targets --no-default-features -- -D warnings
	@$(CARGO) test --release
	@$(CARGO) test --release --no-default-features

clean: ## remove what was built and the demo's results; models stay
	@cargo clean
	@rm -rf state/demo
