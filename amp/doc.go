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
// # Errors
//
// Misuse panics with an *Error that names the op, the shapes or dtypes and one fix; Maybe turns it into an error value.
package amp
