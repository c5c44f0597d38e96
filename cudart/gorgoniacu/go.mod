module github.com/halftone-ml/halftone/cudart/gorgoniacu

go 1.26

require (
	github.com/halftone-ml/halftone v0.0.0
	gorgonia.org/cu v0.9.6
)

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/google/uuid v1.1.1 // indirect
	github.com/pkg/errors v0.9.1 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/sys v0.43.0 // indirect
)

replace github.com/halftone-ml/halftone => ../..
