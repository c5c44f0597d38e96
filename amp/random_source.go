package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Uint64 returns the next 64 random bits and moves the stream on by one block: a Stream is a rand.Source of math/rand/v2.
func (r *Stream) Uint64() uint64 {
	b := cpu.PhiloxBlock(r.seed, r.take(1))
	return uint64(b[0])<<32 | uint64(b[1])
}
