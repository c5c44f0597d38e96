package amp

import "slices"

// Random numbers of a captured step. Where a random stream stands lies on the device, as seed and block: ops of the step draw from there
// on, its last op moves the block on by what one run draws, and the host follows by adding the same to the stream. It is written anew
// only when the stream was used in between.

// A graphStream is a random stream that a captured step draws from.
type graphStream struct {
	of     *Stream
	origin *Tensor     // int64 [2]: seed and block
	there  StreamState // what origin holds when the next replay begins, once written
	known  bool
	base   uint64 // position of the host's stream when the recording draws first
	begun  bool   // it has drawn
	drawn  uint64 // blocks of one run
}

// source returns the stream that a copy was made of; see Checkpoint.
func (r *Stream) source() *Stream {
	if r.copyOf != nil {
		return r.copyOf
	}
	return r
}

// draw reserves blocks of the scope's random stream.
func (s *Scope) draw(blocks int) Draw {
	if g := capturingOn(s.root.dev); g != nil {
		if r := g.stream(s); g.stage == graphRecord {
			return r.draw(s.rng, blocks)
		}
	}
	return Draw{Seed: s.rng.seed, Block: s.rng.take(blocks)}
}

// draw is Scope.draw of a step that is recorded.
func (r *graphStream) draw(rng *Stream, blocks int) Draw {
	if !r.begun {
		r.begun, r.base = true, rng.counter.Load()
	}
	return Draw{Block: rng.take(blocks) - r.base, Origin: r.origin}
}

// stream returns what the graph has of a scope's stream. The first run makes it: memory of the recording is not the stream's alone.
func (g *Graph) stream(s *Scope) *graphStream {
	of := s.rng.source()
	for _, r := range g.streams {
		if r.of == of {
			return r
		}
	}
	if g.stage == graphRecord {
		fail("Capture", ErrCapture, "draw from the same streams each time", "the step draws random numbers when it is recorded that its first run did not draw")
	}
	r := &graphStream{of: of}
	r.origin = alloc("Capture", s.root.dev, Int64, []int{2}).SetName("random stream")
	g.streams = append(g.streams, r)
	return r
}

// drawsFrom says whether the step draws from the stream itself.
func (g *Graph) drawsFrom(r *Stream) bool {
	return slices.ContainsFunc(g.streams, func(have *graphStream) bool { return have.of == r })
}

// advanceStreams records that the streams on the device move on.
func (g *Graph) advanceStreams() {
	s := g.s.NoGrad()
	for _, r := range g.streams {
		if !r.begun {
			continue
		}
		r.drawn = r.of.counter.Load() - r.base
		AddInPlace(s, Narrow(s, r.origin, 0, 1, 1), Full(s, Int64, float64(r.drawn), 1))
	}
}

// endStreams takes the host's streams back to where they were before the recording, which has drawn nothing.
func (g *Graph) endStreams() {
	for _, r := range g.streams {
		if r.begun {
			r.of.counter.Store(r.base)
		}
	}
}

func (g *Graph) freeStreams() {
	for _, r := range g.streams {
		r.origin.Free()
	}
}

// locate brings the place of the stream to the device, if it is not where the last replay left it.
func (r *graphStream) locate() {
	if now := r.of.State(); !r.known || now != r.there {
		SetValues(r.origin, []int64{int64(now.Seed), int64(now.Counter)})
		r.there, r.known = now, true
	}
}

// advance is what a replay has drawn.
func (r *graphStream) advance() {
	r.of.take(int(r.drawn))
	r.there.Counter += r.drawn
}
