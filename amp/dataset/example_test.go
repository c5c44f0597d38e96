package dataset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
)

// squares returns n images of two classes: a bright square in the left or in the right half of an 8×8 image.
func squares(n int) *dataset.Images {
	m := &dataset.Images{Shape: [3]int{1, 8, 8}, Classes: []string{"left", "right"}}
	for i := range n {
		px := make([]byte, 64)
		for k := range 9 {
			px[(i%5+k/3)*8+i%2*4+k%3] = 200
		}
		m.Data = append(m.Data, px...)
		m.Labels = append(m.Labels, uint8(i%2))
	}
	return m
}

// A loader shuffles by seed and epoch, and hands out batches in the scope of a training step.
func ExampleLoader_Epoch() {
	root := amp.NewScope()
	defer root.Close()
	loader := dataset.NewLoader(squares(5), 2, dataset.Shuffle(1))
	for epoch := loader.State().Epoch; epoch < 2; epoch++ {
		for s, b := range loader.Epoch(root) {
			fmt.Println("step", s.Step(), "images", b.X.Shape(), "samples", b.Index)
		}
	}
	// Output:
	// step 0 images [2 1 8 8] samples [0 1]
	// step 1 images [2 1 8 8] samples [4 2]
	// step 2 images [1 1 8 8] samples [3]
	// step 3 images [2 1 8 8] samples [4 3]
	// step 4 images [2 1 8 8] samples [1 0]
	// step 5 images [1 1 8 8] samples [2]
}

// A checkpoint keeps the position; a loader that loads it goes on with the batch that was to come.
func ExampleLoader_Load() {
	root := amp.NewScope()
	defer root.Close()
	loader := dataset.NewLoader(squares(6), 2, dataset.Shuffle(1), dataset.RandomHorizontalFlip(0.5))
	loader.Next(root)
	checkpoint := loader.State()
	second := loader.Next(root)

	resumed := dataset.NewLoader(squares(6), 2, dataset.Shuffle(1), dataset.RandomHorizontalFlip(0.5))
	if err := resumed.Load(checkpoint); err != nil {
		fmt.Println(err)
	}
	again := resumed.Next(root)
	fmt.Println(checkpoint.Position, second.Index, again.Index, fmt.Sprint(second.X.Float64s()) == fmt.Sprint(again.X.Float64s()))
	// Output: 2 [4 5] [4 5] true
}

// Evaluation goes through the set once, in order, in scopes that are no training steps.
func ExampleLoader_Batches() {
	root := amp.NewScope()
	defer root.Close()
	test := dataset.NewLoader(squares(7), 4)
	right := 0
	for s, b := range test.Batches(root.NoGrad()) {
		half := amp.Reshape(s, b.X, b.Len(), 8, 2, 4) // rows of a left and a right half
		bright := amp.Sum(s, half, 1, 3)              // brightness of each half
		for i, y := range amp.Values[int64](amp.ArgMax(s, bright, 1)) {
			if y == amp.Values[int64](b.Y)[i] {
				right++
			}
		}
	}
	fmt.Println(right, "of", test.Dataset().Len())
	// Output: 7 of 7
}

func ExampleTransform() {
	root := amp.NewScope()
	defer root.Close()
	invert := dataset.Transform{Name: "invert", Apply: func(s *dataset.Sample) {
		for i, v := range s.X {
			s.X[i] = 1 - v
		}
	}}
	set := &dataset.Images{Data: []byte{0, 51, 255}, Labels: []uint8{0}, Shape: [3]int{1, 1, 3}, Classes: []string{"only"}}
	fmt.Println(dataset.NewLoader(set, 1, invert, dataset.Rescale(0, 10)).Next(root).X.Float64s())
	// Output: [10 8 0]
}

// A set written in the CIFAR-10 format is read like the real one, and a file that lost its end is reported as such.
func ExampleCIFAR10() {
	dir, err := os.MkdirTemp("", "cifar")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	set := &dataset.Images{Data: make([]byte, 10*3*32*32), Labels: make([]uint8, 10), Shape: [3]int{3, 32, 32}, Classes: []string{"black"}}
	if err := dataset.WriteCIFAR10(dir, set, set.Slice(0, 2)); err != nil {
		fmt.Println(err)
	}
	train, test, err := dataset.CIFAR10(dir)
	fmt.Println(train.Len(), test.Len(), train.Classes, err)

	os.Truncate(filepath.Join(dir, "test_batch.bin"), 5000)
	_, _, err = dataset.CIFAR10(dir)
	var bad *dataset.FileError
	if errors.As(err, &bad) {
		fmt.Println(filepath.Base(bad.File), "|", bad.Kind, "|", bad.Want, "|", bad.Found)
		fmt.Println("fix:", bad.Fix)
	}
	// Output:
	// 10 2 [black] <nil>
	// test_batch.bin | file is truncated | records of 3073 bytes | 5000 bytes, which is 1 of them and 1927 bytes
	// fix: get the CIFAR-10 binary version (cifar-10-binary.tar.gz) and put it, or the folder cifar-10-batches-bin in it, here
}

// Windows of a text are inputs; their targets are the tokens that follow.
func ExampleText_Windows() {
	root := amp.NewScope()
	defer root.Close()
	text := dataset.Text{Data: []byte("package dataset")}
	loader := dataset.NewLoader(text.Windows(4, 1), 2, dataset.Draw(100, 1))
	b := loader.Next(root)
	for i, at := range b.Index {
		x, y := amp.Values[int64](b.X)[4*i:4*i+4], amp.Values[int64](b.Y)[4*i:4*i+4]
		fmt.Printf("from %d: %q is followed by %q\n", at, dataset.Decode(x), dataset.Decode(y))
	}
	// Output:
	// from 10: "tase" is followed by "aset"
	// from 7: " dat" is followed by "data"
}

// Printing a loader shows what it gives and where it stands.
func ExampleLoader_String() {
	root := amp.NewScope()
	defer root.Close()
	loader := dataset.NewLoader(squares(7), 2, dataset.Shuffle(1), dataset.DropLast(), dataset.RandomHorizontalFlip(0.5))
	loader.Next(root)
	fmt.Println(loader)
	// Output:
	// Loader(7 samples of float32 [1 8 8], 3 batches of 2, shuffled with seed 1, last one dropped, transforms RandomHorizontalFlip; at epoch 0, sample 2)
}
