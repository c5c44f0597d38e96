package amp

import "slices"

// Random numbers of a captured step. Where a random stream stands lies on the device, as seed and block: the first op of the step moves the
// block on by what one run draws, the others draw from there on, and the host follows by adding the same to the stream. It is written anew
// only when the stream was used in between. Until the next replay it stays as it is: backward of what the step made, be it in a step of its
// own or none, draws the masks of that replay once more.

// A graphStream is a random stream that a captured step draws from.
type graphStream struct {
	of     *Stream
	origin *Tensor     // int64 [2]: seed and block of the present replay
	step   *Tensor     // int64 [1]: drawn, which is known when all is recorded
	there  StreamState // where the next replay begins if the stream is not used in between
	known  bool
	base   uint64 // position of the host's stream when the recording draws first
	begun  bool   // it has drawn
	drawn  uint64 // blocks of one run
}

// recorded returns what a graph has of the stream that the scope draws from, nil where no recording draws: of the graph that is recorded, and
// for a checkpointed part that runs again of the one that recorded its first run.
func (s *Scope) recorded() *graphStream {
	if s.rng.copyOf != nil {
		return s.rng.from
	}
	if g := recordingOn(s.root.dev); g != nil {
		return g.find(s.rng)
	}
	return nil
}

// draw reserves blocks of the scope's random stream.
func (s *Scope) draw(blocks int) Draw {
	if r := s.rng.from; r != nil {
		return r.draw(s.rng, blocks)
	}
	if s.rng.copyOf != nil { // what was drawn once is no part of what replays draw
		return Draw{Seed: s.rng.seed, Block: s.rng.take(blocks)}
	}
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
	of := s.rng
	if r := g.find(of); r != nil {
		return r
	}
	if g.stage == graphRecord {
		fail("Capture", ErrCapture, "draw from the same streams each time", "the step draws random numbers when it is recorded that its first run did not draw")
	}
	r := &graphStream{of: of}
	r.origin = alloc("Capture", s.root.dev, Int64, []int{2}).SetName("random stream")
	r.step = alloc("Capture", s.root.dev, Int64, []int{1}).SetName("random numbers of a step")
	g.streams = append(g.streams, r)
	return r
}

// find returns what the graph has of a stream, nil for nothing.
func (g *Graph) find(of *Stream) *graphStream {
	if i := slices.IndexFunc(g.streams, func(have *graphStream) bool { return have.of == of }); i >= 0 {
		return g.streams[i]
	}
	return nil
}

// drawsFrom says whether the step draws from the stream itself.
func (g *Graph) drawsFrom(r *Stream) bool { return g.find(r) != nil }

// advanceStreams records that the streams on the device move on.
func (g *Graph) advanceStreams() {
	s := g.s.NoGrad()
	for _, r := range g.streams {
		AddInPlace(s, Narrow(s, r.origin, 0, 1, 1), r.step)
	}
}

// endStreams takes the host's streams back to where they were before the recording, which has drawn nothing.
func (g *Graph) endStreams() {
	for _, r := range g.streams {
		if r.begun {
			r.drawn = r.of.counter.Load() - r.base
			r.of.counter.Store(r.base)
		}
	}
}

// measureStreams tells the device what one run draws.
func (g *Graph) measureStreams() {
	for _, r := range g.streams {
		SetValues(r.step, []int64{int64(r.drawn)})
	}
}

func (g *Graph) freeStreams() {
	for _, r := range g.streams {
		r.origin.Free()
		r.step.Free()
	}
}

// locate brings the place of the stream to the device, less what a replay begins with adding, if it is not where the last replay left it.
func (r *graphStream) locate() {
	if now := r.of.State(); !r.known || now != r.there {
		SetValues(r.origin, []int64{int64(now.Seed), int64(now.Counter - r.drawn)})
		r.there, r.known = now, true
	}
}

// advance is what a replay has drawn.
func (r *graphStream) advance() {
	r.of.take(int(r.drawn))
	r.there.Counter += r.drawn
}
