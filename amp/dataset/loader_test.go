package dataset

import (
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/remote"
)

// numbered returns n images [3 4 5] whose pixels tell image, channel and place apart.
func numbered(n int) *Images {
	m := &Images{Shape: [3]int{3, 4, 5}, Classes: []string{"a", "b", "c"}}
	for i := range n {
		m.Labels = append(m.Labels, uint8(i%3))
		for k := range 60 {
			m.Data = append(m.Data, byte(i*61+k*7+1))
		}
	}
	return m
}

// A given is a batch in plain values.
type given struct {
	X             []float64
	Shape         []int
	Y             []int64
	Index         []int
	Epoch, Number int
}

func plain(b Batch) given {
	return given{b.X.Float64s(), b.X.Shape(), amp.Values[int64](b.Y), b.Index, b.Epoch, b.Number}
}

// epoch collects the rest of an epoch.
func epoch(t *testing.T, l *Loader) []given {
	t.Helper()
	root := amp.NewScope()
	defer root.Close()
	var all []given
	for _, b := range l.Batches(root) {
		all = append(all, plain(b))
	}
	return all
}

func augmented(n, batch int, opts ...Option) *Loader {
	opts = append(opts, RandomCrop(2), RandomHorizontalFlip(0.5), Normalize([]float32{0.4, 0.5, 0.6}, []float32{0.2, 0.3, 0.4}), Cutout(2))
	return NewLoader(numbered(n), batch, opts...)
}

func TestLoaderShapesAndOrder(t *testing.T) {
	l := NewLoader(numbered(10), 4)
	if l.Len() != 3 || l.Left() != 3 {
		t.Fatalf("%d batches, %d left", l.Len(), l.Left())
	}
	all := epoch(t, l)
	if len(all) != 3 {
		t.Fatalf("%d batches", len(all))
	}
	next := 0
	for k, b := range all {
		n := min(4, 10-4*k)
		if !slices.Equal(b.Shape, []int{n, 3, 4, 5}) || len(b.Y) != n || b.Number != k || b.Epoch != 0 {
			t.Errorf("batch %d: shape %v, %d labels, number %d of epoch %d", k, b.Shape, len(b.Y), b.Number, b.Epoch)
		}
		for j, i := range b.Index {
			if i != next || b.Y[j] != int64(i%3) {
				t.Errorf("batch %d has sample %d with label %d at %d", k, i, b.Y[j], j)
			}
			for p := range 60 {
				if want := float64(float32(byte(i*61+p*7+1)) / 255); b.X[j*60+p] != want {
					t.Fatalf("sample %d, element %d: %v, want %v", i, p, b.X[j*60+p], want)
				}
			}
			next++
		}
	}
	if st := l.State(); st.Epoch != 1 || st.Position != 0 {
		t.Errorf("after the epoch: %+v", st)
	}
	if got := NewLoader(numbered(10), 4, DropLast()).Len(); got != 2 {
		t.Errorf("DropLast leaves %d batches", got)
	}
	dropped := epoch(t, NewLoader(numbered(10), 4, DropLast()))
	if len(dropped) != 2 || dropped[1].Index[3] != 7 {
		t.Errorf("DropLast gave %d batches", len(dropped))
	}
}

func TestShuffleIsAFunctionOfSeedAndEpoch(t *testing.T) {
	indices := func(l *Loader) (all []int) {
		for _, b := range epoch(t, l) {
			all = append(all, b.Index...)
		}
		return all
	}
	l := NewLoader(numbered(12), 5, Shuffle(7))
	first, second := indices(l), indices(l)
	// Recorded once: an order that changes between versions or machines breaks every checkpoint.
	if want := []int{10, 8, 5, 6, 9, 11, 4, 1, 3, 0, 2, 7}; !slices.Equal(first, want) {
		t.Errorf("epoch 0 of seed 7: %v, want %v", first, want)
	}
	if slices.Equal(first, second) {
		t.Error("two epochs have the same order")
	}
	for _, o := range [][]int{first, second} {
		s := slices.Clone(o)
		slices.Sort(s)
		if !slices.Equal(s, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
			t.Errorf("not every sample once: %v", o)
		}
	}
	again := NewLoader(numbered(12), 3, Shuffle(7), Prefetch(4), RandomCrop(1)) // what does not belong to the order
	again.SetEpoch(1)
	if got := indices(again); !slices.Equal(got, second) {
		t.Errorf("epoch 1 again: %v, was %v", got, second)
	}
	if slices.Equal(indices(NewLoader(numbered(12), 5, Shuffle(8))), first) {
		t.Error("two seeds have the same order")
	}
}

func TestShuffleIsUniform(t *testing.T) {
	// Where sample 0 lands over many epochs: χ² with 9 degrees of freedom is below 27.9 with probability 0.999.
	const n, epochs = 10, 4000
	var counts [n]float64
	idx := make([]int32, n)
	for e := range epochs {
		order(idx, 3, e, n, false)
		counts[slices.Index(idx, 0)]++
	}
	chi := 0.0
	for _, c := range counts {
		chi += (c - epochs/n) * (c - epochs/n) / (epochs / n)
	}
	if chi > 27.9 {
		t.Errorf("χ² = %.1f of %v", chi, counts)
	}
}

func TestPrefetchChangesNothing(t *testing.T) {
	want := epoch(t, augmented(23, 4, Shuffle(5), Prefetch(0)))
	for _, n := range []int{1, 2, 7} {
		if got := epoch(t, augmented(23, 4, Shuffle(5), Prefetch(n))); !reflect.DeepEqual(got, want) {
			t.Errorf("prefetching %d batches gives other batches", n)
		}
	}
	// Neither does the batch size change what becomes of a sample.
	pixels := func(all []given) map[int][]float64 {
		m := map[int][]float64{}
		for _, b := range all {
			for k, i := range b.Index {
				m[i] = b.X[k*60 : (k+1)*60]
			}
		}
		return m
	}
	if !reflect.DeepEqual(pixels(epoch(t, augmented(23, 9, Shuffle(5)))), pixels(want)) {
		t.Error("a batch of 9 gives other samples than one of 4")
	}
	l := augmented(23, 4, Shuffle(5))
	epoch(t, l)
	if reflect.DeepEqual(pixels(epoch(t, l)), pixels(want)) {
		t.Error("two epochs have the same random transforms")
	}
}

func TestResumeInTheMiddleOfAnEpoch(t *testing.T) {
	for _, opts := range [][]Option{
		{Shuffle(3)}, {Shuffle(3), DropLast(), Prefetch(3)}, {Prefetch(0), Seed(9)}, {Draw(17, 4), Prefetch(2)},
	} {
		whole := augmented(23, 4, opts...)
		want := slices.Concat(epoch(t, whole), epoch(t, whole))
		for stop := range len(want) - 1 {
			l := augmented(23, 4, opts...)
			root := amp.NewScope()
			var saved []byte
			for range stop + 1 {
				c := root.Child()
				l.Next(c)
				c.Close()
				saved, _ = json.Marshal(l.State())
			}
			root.Close()
			var st State
			if err := json.Unmarshal(saved, &st); err != nil {
				t.Fatal(err)
			}
			fresh := augmented(23, 4, opts...)
			epoch(t, fresh) // so that it stands elsewhere
			if err := fresh.Load(st); err != nil {
				t.Fatal(err)
			}
			got := epoch(t, fresh)
			if st.Epoch == 0 {
				got = append(got, epoch(t, fresh)...)
			}
			if !reflect.DeepEqual(got, want[stop+1:]) {
				t.Fatalf("after batch %d of %v: other batches", stop, st)
			}
		}
	}
}

func TestStateCarriesTheSeed(t *testing.T) {
	a, b := augmented(9, 2, Shuffle(1)), augmented(9, 2, Shuffle(2))
	if err := b.Load(a.State()); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(epoch(t, a), epoch(t, b)) {
		t.Error("a loaded state goes on with the loader's own seed")
	}
}

func TestLoadRefuses(t *testing.T) {
	l := NewLoader(numbered(10), 4, Shuffle(1))
	good := l.State()
	for name, change := range map[string]func(*State){
		"samples":  func(s *State) { s.Samples = 11 },
		"batch":    func(s *State) { s.Batch = 5 },
		"order":    func(s *State) { s.Order = "sequential" },
		"epoch":    func(s *State) { s.Epoch = -1 },
		"negative": func(s *State) { s.Position = -4 },
		"beyond":   func(s *State) { s.Position = 12 },
		"within":   func(s *State) { s.Position = 3 },
	} {
		st := good
		change(&st)
		if err := l.Load(st); err == nil || !strings.Contains(err.Error(), "fix:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l.State() != good {
		t.Errorf("a refused state moved the loader to %+v", l.State())
	}
}

func TestDraw(t *testing.T) {
	l := NewLoader(numbered(5), 8, Draw(1000, 2))
	seen := make([]int, 5)
	for _, b := range epoch(t, l) {
		for _, i := range b.Index {
			seen[i]++
		}
	}
	for i, n := range seen {
		if n < 140 || n > 260 { // 200 ± 4.7 standard deviations
			t.Errorf("sample %d was drawn %d times of 1000", i, n)
		}
	}
}

func TestTensorsBelongToTheScope(t *testing.T) {
	before := amp.MemStats()[remote.Home()].Bytes
	root := amp.NewScope()
	l := NewLoader(numbered(6), 2)
	var kept []Batch
	steps := []int{}
	for s, b := range l.Epoch(root) {
		kept = append(kept, b)
		steps = append(steps, s.Step())
		amp.Sum(s, b.X)
	}
	for s, b := range l.Batches(root) {
		kept = append(kept, b)
		if s.Step() != -1 {
			t.Errorf("an evaluation batch counts as step %d", s.Step())
		}
	}
	for s := range root.Steps(1) {
		kept = append(kept, l.Next(s))
	}
	if !slices.Equal(steps, []int{0, 1, 2}) || len(kept) != 7 {
		t.Errorf("steps %v, %d batches", steps, len(kept))
	}
	for i, b := range kept {
		for _, x := range []*amp.Tensor{b.X, b.Y} {
			if err := amp.Maybe(func() { x.Float64s() }); !errors.Is(err, amp.ErrClosed) {
				t.Errorf("batch %d outlives its scope: %v", i, err)
			}
		}
	}
	b := l.Next(root)
	if b.X.Len() != 120 {
		t.Errorf("%v", b.X.Shape())
	}
	root.Close()
	if after := amp.MemStats()[remote.Home()].Bytes; after != before {
		t.Errorf("memory in use: %d bytes before, %d after", before, after)
	}
}

func TestBreakGoesOnAfterwards(t *testing.T) {
	l := NewLoader(numbered(10), 2, Shuffle(1), Prefetch(3))
	want := epoch(t, NewLoader(numbered(10), 2, Shuffle(1)))
	root := amp.NewScope()
	defer root.Close()
	var got []given
	for _, b := range l.Epoch(root) {
		got = append(got, plain(b))
		break
	}
	for _, b := range l.Batches(root) {
		got = append(got, plain(b))
		if len(got) == 3 {
			break
		}
	}
	for s := range root.Steps(2) {
		got = append(got, plain(l.Next(s)))
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("loops that break and Next do not share one position")
	}
	if l.State().Epoch != 1 {
		t.Errorf("%+v", l.State())
	}
	if l.Next(root).Epoch != 1 {
		t.Error("Next does not begin the next epoch")
	}
}

func TestNewLoaderRefuses(t *testing.T) {
	text := Text{Data: []byte("some text")}.Windows(3, 1)
	for name, f := range map[string]func(){
		"batch":      func() { NewLoader(numbered(3), 0) },
		"empty":      func() { NewLoader(numbered(0), 1) },
		"no batch":   func() { NewLoader(numbered(3), 4, DropLast()) },
		"two orders": func() { NewLoader(numbered(3), 1, Shuffle(1), Draw(2, 1)) },
		"draw":       func() { Draw(0, 1) },
		"prefetch":   func() { Prefetch(-1) },
		"channels":   func() { NewLoader(numbered(3), 1, Normalize([]float32{0}, []float32{1})) },
		"deviation":  func() { NewLoader(numbered(3), 1, Normalize([]float32{0, 0, 0}, []float32{1, 0, 1})) },
		"crop text":  func() { NewLoader(text, 1, RandomCrop(1)) },
		"scale text": func() { NewLoader(text, 1, Rescale(0, 1)) },
		"no Apply":   func() { NewLoader(numbered(3), 1, Transform{Name: "empty"}) },
		"crop":       func() { RandomCrop(-1) },
		"cutout":     func() { Cutout(0) },
		"epoch":      func() { NewLoader(numbered(3), 1).SetEpoch(-1) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSteadyLoopTakesNoBuffers(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	l := augmented(64, 8, Shuffle(1), Prefetch(2))
	take := func() {
		c := root.Child()
		l.Next(c)
		c.Close()
	}
	for range 20 {
		take()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		take()
	}
	runtime.ReadMemStats(&after)
	// A batch of 8·60 float32 is 1920 bytes; what is left per batch are the tensors' heads, channels and goroutines.
	if per := (after.TotalAlloc - before.TotalAlloc) / 100; per > 1900 {
		t.Errorf("%d bytes of heap per batch", per)
	}
}

func BenchmarkLoader(b *testing.B) {
	m := &Images{Shape: [3]int{3, 32, 32}, Classes: []string{"a"}, Data: make([]byte, 3072*1000), Labels: make([]uint8, 1000)}
	for _, n := range []int{0, 2} {
		b.Run(map[int]string{0: "alone", 2: "prefetch"}[n], func(b *testing.B) {
			root := amp.NewScope()
			defer root.Close()
			l := NewLoader(m, 128, Shuffle(1), Prefetch(n), RandomCrop(4), RandomHorizontalFlip(0.5), Normalize(CIFAR10Mean, CIFAR10Std))
			b.SetBytes(128 * 3072 * 4)
			b.ReportAllocs()
			for b.Loop() {
				c := root.Child()
				l.Next(c)
				c.Close()
			}
		})
	}
}
