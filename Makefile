# Thin on purpose: the work is in `go run ./kernelext/cmd/halftone` and `go test`.
SHELL := /bin/bash
# -buildvcs=false: stamping a commit fails in containers where another user owns the checkout, and nothing here reads it.
# Without debug data, as cells are built: packages are then compiled once for the command and for cells.
GORUN := go run -buildvcs=false -gcflags=all=-dwarf=false
HALFTONE := $(GORUN) ./kernelext/cmd/halftone
# What tests and saved notebooks use instead of the user's own folders (kernelext/internal/testenv).
J := $(CURDIR)/.halftone/jupyter
ISOLATED := HALFTONE_HOME="$(CURDIR)/.halftone/home" JUPYTER_DATA_DIR="$(J)/data" JUPYTER_CONFIG_DIR="$(J)/config" \
	JUPYTER_RUNTIME_DIR="$(J)/runtime" JUPYTER_PATH= IPYTHONDIR="$(J)/ipython"
# Without cgo, as cells are built: the standard library is then compiled once for everything.
export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help lab test test-all bench gpu-bundle notebooks fmt doctor clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

lab: .halftone/compiled ## from nothing to JupyterLab open on the tutorials (needs Go and Python 3.10 or newer)
	@$(HALFTONE) lab $(ARGS)

# The go command is silent while it compiles, and the first time it does so for about a minute.
.halftone/compiled:
	@echo "Compiling the halftone command; this takes about a minute the first time."
	@mkdir -p $(@D) && touch $@

test: ## format, vet, staticcheck and every test: 11 to 33 minutes on two cores, by the machine and what is compiled already
	@$(GORUN) ./kernelext/internal/testrun

test-all: ## test, and what is long: training runs, fuzzing; what `make test` has just found on the same files is not run again
	@$(GORUN) ./kernelext/internal/testrun -tags long

bench: ## side-by-side benchmarks: latency of cells, time of a training step
	@$(HALFTONE) bench $(ARGS)

gpu-bundle: ## pack the CUDA tests and benchmarks for a machine with a GPU and without Go
	@$(GORUN) ./cudart/internal/gpubundle

notebooks: ## execute the tutorials again and save their outputs, the same on every CPU: the only thing that rewrites them
	@$(ISOLATED) $(HALFTONE) install --private
	@$(ISOLATED) HALFTONE_CPU=reproducible $(HALFTONE) run --inplace --stable $(or $(N),notebooks/*.ipynb)

doctor: ## say what of the installation is missing and how to repair it
	@$(HALFTONE) doctor

fmt: ## format the Go code
	@gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')

clean: ## remove what tests installed (the user's installation stays; see `halftone uninstall`)
	@rm -rf .halftone
