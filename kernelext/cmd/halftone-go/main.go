// Command halftone-go is what cells find as the go command; see package cellgo.
package main

import (
	"os"

	"github.com/halftone-ml/halftone/kernelext/cellgo"
)

func main() { os.Exit(cellgo.Main()) }
