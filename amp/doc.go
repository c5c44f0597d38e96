// Package amp is automatic mixed precision for Go: tensors with reverse-mode autograd, autocast scopes that choose the
// precision of every op, a GradScaler that keeps float16 gradients alive, and a trace that says which precision each op ran
// in and why.
//
// # Scopes
//
// Every op takes a *Scope first. A scope is derived, never changed: Autocast, NoGrad and In return a new one that shares the
// memory of its parent; Child and Steps own the temporaries born in them and return their buffers at Close.
//
//	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
//	defer root.Close()
//	for s := range root.Steps(3) {
//		half := s.Autocast(amp.Float16)
//		loss := nn.MSELoss(half, net.Forward(half, x), y)
//		opt.ZeroGrad()
//		scaler.Scale(s, loss).Backward()
//		scaler.Step(opt)
//		scaler.Update()
//	}
//
// # Ops
//
// Each op is one row of one table (Ops): its name, autocast class, the reason for that class, shape rule, CPU kernel, CUDA
// symbol stem and backward. Autocast, Explain, the trace, the documentation and the tests read that table and nothing else.
//
// # Processors
//
// On the CPU, kernels for AVX-512, for AVX2 or in plain Go are chosen when the program starts; the environment variable
// HALFTONE_CPU names others: avx512, avx2 or generic. HALFTONE_THREADS limits the workers, one per processor otherwise. Results
// do not depend on the number of workers. With HALFTONE_CPU=reproducible (or reproducible,generic and the like) they do not
// depend on the kernels and the processor either: every sum has one order and every multiply-add one rounding. Only the plain
// Go kernels are slower for it. A word that is unknown, or that the processor can't do, is reported on standard error and has
// no effect.
//
// # Errors
//
// Misuse panics with an *Error that names the op, the shapes or dtypes and one fix; Maybe turns it into an error value.
package amp
