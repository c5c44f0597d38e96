// Package cheatsheet holds the examples that notebooks/cheatsheet.md is made of. There is nothing in it but tests.
//
// A line of the sheet is a comment "// torch: …" in an example, what PyTorch writes, and the statements below it, what Halftone writes.
// What follows them prints something that the example's "// Output:" asserts, so that no line of the sheet is untested:
//
//	// torch: y = torch.relu(x)
//	y := amp.ReLU(s, x)
//	fmt.Println(y.Float64s())
//
// `go test ./internal/cheatsheet -update` writes the sheet again.
package cheatsheet
