package render

import "testing"

// BenchmarkBundle is what a figure costs the kernel between a cell and the front end.
func BenchmarkBundle(b *testing.B) {
	for _, name := range []string{"decisions", "decisions_large", "steady", "compare"} {
		f := figures()[name]
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Bundle(f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
