// Package conformance holds no code: its tests drive the installed kernel with Jupyter's own client over ZeroMQ. One is
// jupyter_kernel_test, the suite that Jupyter has for kernels; the others do what front ends and machines do on bad days.
package conformance
