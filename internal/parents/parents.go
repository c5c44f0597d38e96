// Package parents lets packages that package nn is built on, or that do not need it, ask for what only nn knows of a model: the buffers of
// the modules it is made of.
package parents

// Buffers returns the buffers of a module made of others, a []*amp.Tensor, and nil for any other model. Package nn sets it: who has such a
// model has linked that.
var Buffers func(model any) any
