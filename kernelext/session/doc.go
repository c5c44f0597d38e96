// Package session keeps models, optimizers and values alive between the cells of a notebook.
//
// Every cell of a Go notebook is a program of its own, and what it computed is gone when it ends. What a session keeps is not: its
// memory belongs to the kernel, and each cell maps it. Training in one cell is there in the next, with no file saved, nothing loaded,
// nothing trained again; a model of 100 MB is there in about a millisecond.
//
//	func newNet(s *amp.Scope) *nn.Sequential {
//		return nn.NewSequential(nn.NewLinear(s, 784, 256), nn.ReLU, nn.NewLinear(s, 256, 10))
//	}
//
//	%%
//	root := session.NewScope(amp.Seed(1))
//	defer root.Close()
//	net := session.Model("net", newNet)
//	opt := session.Optimizer("opt", func() *optim.Adam { return optim.NewAdamW(net.Parameters()) })
//	scaler := session.Scaler("scaler")
//	loader := session.Loader("train", dataset.NewLoader(data, 64, dataset.Shuffle(1)))
//	losses := session.Value("losses", []float64{})
//	for s, b := range loader.Epoch(root) {
//		…
//	}
//
// Run this cell again and it goes on: weights, running statistics, momenta, the loss scale, the random stream and the place in the data
// are where they were, and the run is bit for bit the one that no cell boundary had divided. The first build of the model is only
// looked at, so that initial values are drawn once.
//
// # What is kept
//
//	NewScope, Join     the random stream of a root scope, by its seed; and they say when to commit
//	Model              parameters and buffers
//	Optimizer          state tensors, step counts, learning rates
//	Scaler             scale and growth tracker
//	Loader             the place in the data
//	Schedule           the place of a learning-rate schedule, or of an amp.LevelOptimizer
//	Random             a random stream of your own
//	Tensor, Value      anything else: data, loss curves, the best score so far
//	KeepTrace, Trace   a recorded trace, to be compared with a later one
//
// Names, shapes, dtypes, Go types and the structure of a model are checked. What was built otherwise than what is kept is refused, with
// a message that says what differs; the choice is another name, or to build anew with Rebuild or Drop. Numbers that were edited in the
// code, such as a learning rate or a seed, are taken; those that were not go on from where they were.
//
// # When it is kept
//
// A commit makes everything together, as it is at one moment, what the next cell finds. It happens at the end of training steps (of
// Scope.Steps, and of Loader.Epoch, which uses it), when a loop ends, an interrupted one too, when the root scope closes, and when
// Commit is called. If a cell ends in any other way (a panic, os.Exit, SIGKILL, a kernel that dies and starts GoNB again) the next one
// finds a committed step, whole: usually the last, and if the process was killed while an optimizer changed the weights, one that is at
// most 25 ms older, or two hundred times what copying them takes. It is told so on standard error. What was changed outside of steps in a
// program that neither closes its root scope nor calls Commit is lost, and the next cell says that, too.
//
// Commits copy no large tensor of the host; package store says how that works. Together with the copies that protect an earlier step
// they take at most about 2 % of the time: a commit that would take more is left to a later step. The memory is that of the tensors twice,
// on a GPU three times. Their gradients are ordinary memory.
//
// # Where it is kept
//
// In the Halftone kernel: in memory of the kernel's process (memfd_create), which the size of /dev/shm does not bound and no file name
// leads to, but the limits of the container and of the process do. It lives as long as the kernel. Restarting the kernel starts
// with an empty session; `%amp session save` and package checkpoint write files that stay. `%amp session` lists, drops, saves and
// loads objects.
//
// In stock GoNB, or where the system has no such memory: in the file halftone/session of GoNB's own temporary folder, which only
// this user can read and which GoNB removes when it ends. Two notebooks have two of them, also in one folder. A program outside a
// notebook has a session in memory of its own, which ends with it, unless the environment variable HALFTONE_SESSION names a file.
//
// Space is reserved before it is used. Where there is none (a full disk, a limit of the process or its container, a model larger than
// the machine) the function that needs it panics with ErrSpace, and what was kept stays; no signal and no out-of-memory killer ends the
// cell.
//
// # On a GPU
//
// Tensors on a GPU are kept in its memory: a cell allocates it, hands it to the kernel as open files, and the next cell maps it. The kernel
// loads no driver for that; the memory is the GPU's again when an object is dropped and when the kernel ends, however that may be. Commits
// and copies are as on the host, but that the end of a training step waits for nothing: at most every 25 ms, and so seldom that it is a
// two-hundredth of the GPU's time, it queues copies of what has changed, and the step is committed when the GPU says that they are made.
// What the GPU could not do, an index that was out of range, is told at the next end of a step, and never committed. The end of a loop, the
// close of the root scope, Commit, and what makes or drops objects wait. So does the step in which tensors of the host have changed, too,
// or an optimizer's state came into being. A cell on another device finds the objects as well: they are moved there. Where the GPU's memory
// can't be shared (under WSL, in stock GoNB), commits copy the tensors that have changed to the host, and the next cell copies them back.
//
// # Limits
//
// One program at a time has a session: another one that a cell started waits, and then fails with ErrBusy. A session is memory
// of one machine, not a file format; its safetensors files are.
package session
