package amp

import (
	"math/rand/v2"
	"testing"
)

var _ rand.Source = (*Stream)(nil)

func TestStreamUint64(t *testing.T) {
	r := NewStream(0)
	if got := r.Uint64(); got != 0x6627e8d5e169c58d { // Random123's known answer, see TestStreamIsReproducible
		t.Errorf("%016x", got)
	}
	second := r.Uint64()
	if r.State().Counter != 2 {
		t.Errorf("two draws moved the stream to %d", r.State().Counter)
	}
	r.Load(StreamState{Seed: 0, Counter: 1})
	if got := r.Uint64(); got != second {
		t.Errorf("block 1 gave %x, then %x", second, got)
	}
}
