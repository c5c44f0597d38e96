// Go peers of the CPU backend for the benchmark, each at an exact version: a module of its own, so that nobody else depends on them. The
// program lies one folder down: `make test` looks into modules that have packages beside their go.mod, and only `make bench` needs this one.
module github.com/halftone-ml/halftone/kernelext/tools/gopeers

go 1.26

require (
	github.com/gomlx/compute v0.0.0-20260716164435-04857206aff7
	github.com/gomlx/gomlx v0.28.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f // indirect
	k8s.io/klog/v2 v2.140.0 // indirect
)
