// Package dataset reads image sets and text, and feeds them to a training loop: the same batches in the same order for the same
// seed, on every machine, from any point on.
//
// # Sets
//
// CIFAR10, MNIST and FashionMNIST read the published files and verify their checksums; IDXImages and CIFAR10 read sets of one's
// own in those formats, and WriteCIFAR10 makes one. Nothing is downloaded here: an error names the file that is missing and
// what to get. Package glyphs, next to this one, draws a set of 32×32 color images for machines without any data, and GoSource
// takes text from the Go tree that is there anyway.
//
//	train, test, err := dataset.CIFAR10("data")
//	mean, std := train.Stats()
//
// Images are kept as bytes. NewTensors makes a set of tensors, with labels or, for a regression, float32 as targets; NewSubset and
// RandomSplit take parts of a set, NewConcat joins several. One of another kind is any type with the three methods of Dataset.
//
// # Batches
//
// A Loader shuffles, transforms and batches, and prepares the next batches while the present one is used:
//
//	loader := dataset.NewLoader(train, 128, dataset.Shuffle(1), dataset.DropLast(),
//		dataset.RandomCrop(4), dataset.RandomHorizontalFlip(0.5), dataset.Normalize(mean, std))
//	for epoch := loader.State().Epoch; epoch < 10; epoch++ {
//		for s, b := range loader.Epoch(root) { // s is a training step's scope, b.X and b.Y are its tensors
//			half := s.Autocast(amp.Float16)
//			loss := amp.CrossEntropy(half, net.Forward(half, b.X), b.Y)
//
// DrawWeighted and PickWeighted draw samples by weights. Epoch makes the steps; Next takes a batch inside a step of your own; Batches is
// for evaluation. A text goes the same way:
//
//	text, err := dataset.GoSource(1 << 20)
//	train, validation := text.Split(0.9)
//	loader := dataset.NewLoader(train.Windows(64, 1), 16, dataset.Draw(16000, 1))
//
// # Repeating a run
//
// The order of an epoch is a function of seed and epoch. Random transforms draw from a stream keyed by seed, epoch and sample
// number, so that neither the number of batches prepared ahead nor the batch size changes what becomes of a sample. State is the
// position, made for a checkpoint's JSON; after Load the loader gives exactly the batches that were to come, in the middle of an
// epoch too.
//
// # Errors
//
// A file that can't be used is a *FileError: file, what was expected, what was found, one fix. Mistakes in a program panic with
// an *amp.Error, as in package amp. What goes wrong while a batch is prepared ahead appears in the loop that takes it.
package dataset
