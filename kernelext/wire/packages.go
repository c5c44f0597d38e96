package wire

import "path"

// Module is the path that cells import Halftone by.
const Module = "github.com/halftone-ml/halftone"

// CellPackages are the packages of the module that cells need no import line for.
var CellPackages = []string{"amp", "amp/nn", "amp/optim", "amp/dataset", "amp/dataset/glyphs", "amp/safetensors", "amp/checkpoint", "widgets", "kernelext/session"}

// AskedPackages are those that cells import themselves.
var AskedPackages = []string{"cudart"}

// PackageFolder is the folder, below the module's, of a package that cells use by this name; "" for any other.
func PackageFolder(name string) string {
	for _, list := range [][]string{CellPackages, AskedPackages} {
		for _, folder := range list {
			if path.Base(folder) == name {
				return folder
			}
		}
	}
	return ""
}
