package glyphs_test

import (
	"fmt"
	"os"

	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/dataset/glyphs"
)

func ExampleNew() {
	set := glyphs.New(1000, 1)
	fmt.Println(set.Len(), set.Shape, set.Classes, set.Counts())

	// In the files of CIFAR-10, for other programs.
	dir, err := os.MkdirTemp("", "glyphs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := dataset.WriteCIFAR10(dir, set.Slice(0, 800), set.Slice(800, 1000)); err != nil {
		fmt.Println(err)
	}
	train, test, err := dataset.CIFAR10(dir)
	fmt.Println(train.Len(), test.Len(), err)
	// Output:
	// 1000 [3 32 32] [0 1 2 3 4 5 6 7 8 9] [100 100 100 100 100 100 100 100 100 100]
	// 800 200 <nil>
}
