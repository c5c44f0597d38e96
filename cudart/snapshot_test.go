package cudart_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// nobody owns a part of shared memory.
type nobody struct{}

func (nobody) BeforeChange() {}
func (nobody) Free()         {}

// snapshotter returns a device with shared memory of so many bytes, and its first part.
func snapshotter(t *testing.T, n int) (amp.Snapshotter, amp.Shared, amp.Buffer) {
	t.Helper()
	dev, _, err := amp.OpenDevice(gpu(t))
	if err != nil {
		t.Fatal(err)
	}
	d := dev.(amp.Snapshotter)
	if !d.CanShare() {
		t.Skip("this device shares no memory")
	}
	m, err := d.Share(int64(4 * n))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(dev.Sync(), m.Close()); err != nil {
			t.Error(err)
		}
	})
	return d, m, m.Part(0, int64(n), nobody{})
}

// TestSnapshotsInOrder: copies and numbers are those of the moment at which the snapshot was queued, whatever is queued behind it, and nobody
// waits for them; memory of the host that has been used is used again.
func TestSnapshotsInOrder(t *testing.T) {
	const n = 1 << 12
	d, m, part := snapshotter(t, n)
	dev, pieces := d.(amp.Device), cudart.SnapshotMemory("cuda:0")
	s := amp.NewScope(amp.On("cuda:0")).NoGrad()
	defer s.Close()
	counter, far := amp.Full(s, amp.Int64, 0), amp.Full(s, amp.Float32, 0, 2)
	for round := range 20 {
		before := cudart.CountsOf("cuda:0").Syncs
		var taken []amp.Snapshot
		for k := range 3 {
			v := byte(3*round + k + 1)
			if err := d.(amp.Filler).Fill(part, 0, []byte{v}, n); err != nil {
				t.Fatal(err)
			}
			amp.SetValues(counter, []int64{int64(v)})
			amp.SetValues(far, []float32{1, float32(v)})
			snap, err := d.Snapshot([]amp.SharedMoves{{Of: m, Moves: []amp.Move{
				{To: int64((k + 1) * n), From: 0, Bytes: n / 2}, {To: int64((k+1)*n + n/2), From: n / 2, Bytes: n / 2}, {}}}}, []*amp.Tensor{counter, far})
			if err != nil {
				t.Fatal(err)
			}
			taken = append(taken, snap)
		}
		if err := d.(amp.Filler).Fill(part, 0, []byte{255}, n); err != nil {
			t.Fatal(err)
		}
		amp.SetValues(counter, []int64{-1})
		if done, err := taken[2].Done(); done && strings.Contains(dev.Name(), "emulated") || err != nil { // the first answer there is always no
			t.Errorf("round %d: done before anybody waited, %v", round, err)
		}
		if now := cudart.CountsOf("cuda:0").Syncs; now != before {
			t.Errorf("round %d: the host waited %d times", round, now-before)
		}
		for k, snap := range taken {
			v, got := byte(3*round+k+1), make([]byte, n)
			if err := snap.Wait(); err != nil {
				t.Fatal(err)
			}
			if done, err := snap.Done(); !done || err != nil {
				t.Errorf("round %d: after waiting it is done: %v, %v", round, done, err)
			}
			if err := m.Read(got, int64((k+1)*n)); err != nil {
				t.Fatal(err)
			}
			if i := bytes.IndexFunc(got, func(r rune) bool { return r != rune(v) }); v < 128 && i >= 0 {
				t.Fatalf("round %d, copy %d is %d at %d, want %d", round, k, got[i], i, v)
			}
			e := snap.Elements()
			if c := binary.NativeEndian.Uint64(e[0]); c != uint64(v) || len(e[1]) != 8 || snap.Took() < 0 {
				t.Errorf("round %d, copy %d: the counter is %d, want %d; %d bytes", round, k, c, v, len(e[1]))
			}
			snap.Drop()
		}
	}
	if n := cudart.SnapshotMemory("cuda:0"); n > max(3, pieces) {
		t.Errorf("%d pieces of page-locked memory for 3 at once, there were %d", n, pieces)
	}
}

// TestSnapshotsOfRefusedSteps: a snapshot behind an index that a kernel has refused is worth nothing and says why; so does whoever waits
// for the device next.
func TestSnapshotsOfRefusedSteps(t *testing.T) {
	d, m, _ := snapshotter(t, 64)
	s := amp.NewScope(amp.On("cuda:0")).NoGrad()
	defer s.Close()
	moves := []amp.SharedMoves{{Of: m, Moves: []amp.Move{{To: 64, From: 0, Bytes: 64}}}}
	x := placed(s, amp.Float32, numbers(12), 4, 3)
	good, err := d.Snapshot(moves, nil)
	if err != nil {
		t.Fatal(err)
	}
	amp.Embedding(s, x, list(s, 0, 9))
	bad, err := d.Snapshot(moves, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := good.Wait(); err != nil {
		t.Errorf("the one before says %v", err)
	}
	for _, err := range []error{bad.Wait(), d.(amp.Device).Sync()} {
		if err == nil || !errors.Is(err, amp.ErrArgument) || !strings.Contains(err.Error(), "embedding") || !strings.Contains(err.Error(), "index 1 is 9") {
			t.Errorf("it says %v", err)
		}
	}
	good.Drop()
	bad.Drop()
	after, err := d.Snapshot(moves, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := after.Wait(); err != nil {
		t.Errorf("the one after says %v", err)
	}
	after.Drop()
}
