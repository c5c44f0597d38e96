module github.com/halftone-ml/halftone

go 1.26
