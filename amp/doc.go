// Package amp is automatic mixed precision for Go: tensors with reverse-mode autograd, autocast scopes that choose the
// precision of every op, a GradScaler that keeps float16 gradients alive, and a trace that says which precision each op ran
// in and why. The measure is PyTorch's torch.amp: the same lists, the same decisions and the same numbers. Layers and losses are
// in nn, optimizers and schedules in optim, data in dataset, files in safetensors and checkpoint.
//
// # A training step
//
//	root := amp.NewScope(amp.Seed(1))
//	defer root.Close()
//	for s := range root.Steps(100) {
//		half := s.Autocast(amp.Float16)
//		loss := nn.MSELoss(half, net.Forward(half, x), y)
//		opt.ZeroGrad()
//		scaler.Scale(s, loss).Backward()
//		scaler.Unscale(opt)                         // before clipping
//		optim.ClipGradNorm(net.Parameters(), 1)
//		scaler.Step(opt)                            // skipped if a gradient overflowed
//		scaler.Update()
//	}
//
// # Scopes
//
// Every op takes a *Scope first: what PyTorch keeps in the thread is an argument here. A scope is derived, never changed. Autocast,
// NoGrad, EnableGrad, Eval, Train and In return one that shares the memory of its parent. Child and Steps give one of its own: results
// born in it, and data made in it (Randn, Zeros …), are freed at its end. Keep moves a tensor to the parent, Own takes one in that
// belongs to no scope (From). Parameters, gradients and optimizer state are made in the root scope and belong to no step.
//
// # Autocast
//
// Each op is one row of one table (Ops). Its Class says what autocast does with its inputs:
//
//	Lower       matrix products, convolutions, attention: to the scope's dtype
//	FP32        exp, pow, losses, norms …: to float32
//	FP32Output  sum, softmax, cumsum …: as they are, the result in float32
//	Promote     addcmul, atan2, bilinear, scatter_add …: to the widest of them
//	Banned      binary_cross_entropy: refused, with the way out
//	Unlisted    relu, add, max_pool …: left alone
//
// float64, integers and in-place ops are never touched. Casts of parameters are cached until the outermost autocast scope ends or the
// parameter changes (CacheEnabled). Enabled(false) switches autocast off within a scope; a nested Autocast may choose another dtype.
// UseLists takes the lists of PyTorch's CPU autocast, of Apex, or none; Force overrides one op. Explain says what would happen,
// without running anything. Backward runs each op in the dtype of its forward.
//
// FP8 makes the products of Linear read operands rounded to 8 bits by a recipe of Transformer Engine or torchao, forward and backward, with
// a scale per tensor, row or block, a power of two. The products run in the lower dtype, on any device, and give the numbers of 8-bit ones with
// such scales up to the order of sums; the trace has each rounding as a cast, with what it lost. FP4 does the same with 4 bits: NVFP4, with
// Transformer Engine's recipe for training (stochastic rounding, Hadamard transforms, squares of weights), or MXFP4.
//
// # Gradients
//
// Backward leaves gradients on leaves that RequireGrad marked, in the leaf's dtype; Grad returns those of any inputs and, with
// CreateGraph, can be differentiated again. Freeze excludes a parameter. Checkpoint runs a part of the forward again in
// backward instead of keeping its results, under the same autocast state and random numbers.
//
// # Dtypes and dimensions
//
// dtypes follow PyTorch's promotion: a float outranks an integer, and that a boolean; a tensor outranks one without dimensions of the same
// kind. A number leaves floats what they are; integers and booleans give int64 with a whole number, however it is written, and float32 with
// another. Functions such as exp take floats alone. A tensor without dimensions goes along dimension 0 or -1 as a line of one element does.
//
// # Loss scaling
//
// A GradScaler works for any number of losses and optimizers: Scale each loss, Unscale or Step each optimizer, Update once. Step
// reports whether the weights moved and which gradient overflowed; History has the scale of every step. bfloat16 needs no scaler:
// ScalerEnabled(false) makes all of its calls pass through.
//
// # Ops of your own
//
// Register makes an op of two functions and a Class: PyTorch's custom_fwd and custom_bwd. Backward runs under the autocast state
// of the forward; CastInputs is custom_fwd's cast_inputs. An op without a class follows its inputs and says so once; Unclassified
// chooses otherwise.
//
// # Levels and policies
//
// Initialize prepares a model and its optimizer for Apex's levels O0 to O3, with master weights and a loss scale per loss. ParsePolicy
// reads jmp's "params=f32,compute=f16,output=f32", which casts explicitly and knows no lists.
//
// # Evaluation
//
// Run a model in root.NoGrad().Eval(): no graph is recorded, dropout passes through, batch norm uses its running statistics. Autocast
// works as in training. There is no state in the model to switch back.
//
// # Checkpoints
//
// Package checkpoint saves weights, buffers, optimizer, schedule, scaler, random stream and position in the data in one safetensors
// file, and a run goes on bit for bit. Runs with a Seed repeat bit for bit, whatever the number of threads.
//
// # Formats and numbers
//
// Half and Format.Inspect take a number apart: bits, spacing, rounding error. Quantize rounds a tensor to float8, float4, tf32 or another
// Format as a what-if, QuantizeScaled with scales. CountExponents counts a tensor's numbers by their power of two, says what a format would lose and which
// scale would save it. ExperimentSums adds numbers in several orders.
//
// # Traces, health and memory
//
// NewScope(Record(Decisions)) records each op and cast: dtypes, rule, place in the source, time. Record(Health) adds the exponents of
// each result, HealthEvery takes samples; a GPU counts by itself, and the step waits for nothing. MemStats counts memory by dtype;
// MemoryLimit makes "does not fit" reproducible. TraceGradients compares one backward pass with float64, number by number, and so
// knows at which op gradients were lost; RecordGradients does so in the steps of a loop. TraceRounding compares a forward pass with float64 and tells
// which op's rounding put how much error into the loss, and what lowering an op would cost before it is lowered; RecordRounding does so in the steps of a loop.
//
// # Devices
//
// NewScope(On("cuda:0")) runs on a GPU, with package cudart imported; On("auto") where there is one. What is made in a scope lies on its
// device: Randn, Zeros, the parameters of layers. From and what is read from files lie on the CPU, or on SetDefaultDevice's device; To
// brings data to a scope's device, Move a parameter, nn.To a model, CPU back. Tensors of several devices in one op are refused, but for
// 0-dimensional ones of the CPU, which go along. Gradients flow back through To, so that a model may be spread over devices. A device
// works behind the host's back: Item, Values and printing wait for it, a training step with scaler, clipping and optimizer does not, and a
// StepReport is worked out when it is read. Capture records a whole step, which Replay then queues as one.
//
// # Errors
//
// Misuse panics with an *Error that names the op, the shapes or dtypes and one fix; Maybe turns it into an error value. Errors of the
// world, such as files and devices, are returned.
package amp
