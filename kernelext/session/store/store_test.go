package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// thing is an object as a process has it: a number, a small tensor and large ones.
type thing struct {
	state string
	small []byte
	large []*Block
}

func (th *thing) AppendState(b []byte) ([]byte, error)        { return append(b, th.state...), nil }
func (th *thing) AppendSmall(b []byte, _ int) ([]byte, error) { return append(b, th.small...), nil }

const largeSize = SmallLimit + 4096

// add makes an object of a small and n large tensors.
func add(t testing.TB, s *Store, name string, n int, fixed bool) *thing {
	t.Helper()
	th := &thing{state: "new", small: []byte("small")}
	tensors := []*Tensor{{Name: "s", DType: "bool", Shape: []int{5}, Size: 5}}
	if fixed {
		tensors = nil
	}
	for i := range n {
		tensors = append(tensors, &Tensor{Name: fmt.Sprint(i), DType: "bool", Shape: []int{largeSize}, Size: largeSize})
	}
	err := s.Add(&Object{Name: name, Kind: KindModel}, tensors, th, fixed, func() error {
		for _, x := range tensors {
			if b := x.Block(); b != nil {
				copy(b.Bytes(), bytes.Repeat([]byte{1}, largeSize))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tensors {
		if x.Block() != nil {
			th.large = append(th.large, x.Block())
		}
	}
	return th
}

// set changes everything of a thing to v.
func (th *thing) set(v byte) {
	th.state = fmt.Sprint(v)
	th.small = bytes.Repeat([]byte{v}, 5)
	for _, b := range th.large {
		b.BeforeChange()
		copy(b.Bytes(), bytes.Repeat([]byte{v}, largeSize))
	}
}

// holds checks that an object is wholly as set made it.
func holds(t testing.TB, s *Store, name string, v byte) {
	t.Helper()
	o := s.Find(name)
	if o == nil {
		t.Fatalf("%s is gone", name)
		return
	}
	if got := string(o.State()); got != fmt.Sprint(v) {
		t.Errorf("%s: state %q, want %d", name, got, v)
	}
	if err := s.Attach(o, nil); err != nil {
		t.Fatal(err)
	}
	for _, x := range o.Tensors {
		e := x.Elements()
		if b := x.Block(); b != nil {
			e = b.Bytes()
		}
		if i := slices.IndexFunc(e, func(b byte) bool { return b != v }); i >= 0 || len(e) != int(x.Size) {
			t.Fatalf("%s: %s is %d at %d, want %d", name, x.Name, e[max(i, 0)], i, v)
		}
	}
}

// both runs a test over memory of the kernel's and over a file.
func both(t *testing.T, f func(t *testing.T, path string)) {
	for name, own := range map[string]func(string) (*Owner, error){"memory": NewOwner, "file": newFileOwner} {
		t.Run(name, func(t *testing.T) {
			o, err := own(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			f(t, o.Path())
		})
	}
}

func reopen(t testing.TB, s *Store, path string) *Store {
	t.Helper()
	if s != nil {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCommitsAreKept(t *testing.T) {
	both(t, func(t *testing.T, path string) {
		s := reopen(t, nil, path)
		a := add(t, s, "a", 3, false)
		add(t, s, "untouched", 1, false).set(7)
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		for v := byte(1); v < 20; v++ {
			a.set(v)
			s.lastAnchor = s.lastAnchor.Add(-anchorEvery * time100(v))
			if err := s.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		s = reopen(t, s, path)
		holds(t, s, "a", 19)
		holds(t, s, "untouched", 7)
		if s.Lost() != nil {
			t.Errorf("nothing was lost: %+v", s.Lost())
		}
		_ = s.Close()
	})
}

// time100 makes every third commit an anchor.
func time100(v byte) (n time.Duration) {
	if v%3 == 0 {
		n = 100
	}
	return n
}

// TestChangesAreUndone: what was changed and not committed is as before; the last commits that were no anchors may go with it.
func TestChangesAreUndone(t *testing.T) {
	both(t, func(t *testing.T, path string) {
		s := reopen(t, nil, path)
		a := add(t, s, "a", 3, false)
		for v := byte(1); v < 12; v++ {
			a.set(v)
			s.lastAnchor = s.lastAnchor.Add(-anchorEvery * time100(v))
			if err := s.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		a.set(200)
		s = reopen(t, s, path)
		holds(t, s, "a", 9)
		if s.Lost() == nil {
			t.Error("it does not say so")
		}
		// Of a change to one tensor alone nothing of the others needs its copy.
		b := s.Find("a")
		if err := s.Attach(b, a); err != nil {
			t.Fatal(err)
		}
		b.Tensors[2].Block().BeforeChange()
		b.Tensors[2].Block().Bytes()[5] = 99
		s = reopen(t, s, path)
		holds(t, s, "a", 9)
		s = reopen(t, s, path)
		if s.Lost() != nil {
			t.Error("it says so again")
		}
		_ = s.Close()
	})
}

func TestGrowAndDrop(t *testing.T) {
	both(t, func(t *testing.T, path string) {
		s := reopen(t, nil, path)
		size := func() int64 { return stored(t, path) }
		empty := size()
		a := add(t, s, "a", 2, false)
		a.set(3)
		o := s.Find("a")
		more := []*Tensor{{Name: "late", DType: "bool", Shape: []int{largeSize}, Size: largeSize}, {Name: "s2", DType: "bool", Shape: []int{5}, Size: 5}}
		if err := s.Extend(o, more); err != nil {
			t.Fatal(err)
		}
		a.large = append(a.large, more[0].Block())
		a.set(4)
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		b := add(t, s, "b", 50, false)
		b.set(5)
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		s = reopen(t, s, path)
		holds(t, s, "a", 4)
		holds(t, s, "b", 5)
		full := size()
		if err := s.Remove("b"); err != nil {
			t.Fatal(err)
		}
		if now := size(); full-now < 50*largeSize {
			t.Errorf("%d bytes of %d are left after the drop of %d", now, full, 50*largeSize)
		}
		s = reopen(t, s, path)
		holds(t, s, "a", 4)
		if s.Find("b") != nil {
			t.Error("b is there again")
		}
		c := add(t, s, "c", 50, false)
		c.set(6)
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		if now := size(); now > full+1<<20 {
			t.Errorf("%d bytes with c, it were %d with b: the space is not used again", now, full)
		}
		for _, name := range []string{"a", "c"} {
			if err := s.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		s = reopen(t, s, path)
		if now := size(); now > empty+4*firstSlot+1<<20 {
			t.Errorf("an empty session takes %d bytes", now)
		}
		_ = s.Close()
	})
}

// stored returns the bytes that a file takes.
func stored(t testing.TB, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return blocks(info)
}

func TestFixedTensors(t *testing.T) {
	both(t, func(t *testing.T, path string) {
		s := reopen(t, nil, path)
		f := add(t, s, "trace", 1, true)
		f.state = "1"
		if err := s.Commit(); err != nil {
			t.Fatal(err)
		}
		s = reopen(t, s, path)
		holds(t, s, "trace", 1)
		_ = s.Close()
	})
}

func TestOneProcessAtATime(t *testing.T) {
	o, err := NewOwner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	s := reopen(t, nil, o.Path())
	add(t, s, "a", 1, false)
	if _, err := OpenSoon(o.Path(), 20*time.Millisecond); !errors.Is(err, ErrBusy) {
		t.Errorf("%v, want busy", err)
	}
	list, err := Peek(o.Path())
	if err != nil || len(list) != 1 || list[0].Name != "a" || list[0].Size() < largeSize {
		t.Errorf("%v %v", list, err)
	}
	_ = s.Close()
}

func TestPlaces(t *testing.T) {
	t.Setenv(PathEnv, "")
	t.Setenv(gonbEnv, "")
	if w := Where(); w != "" {
		t.Error(w)
	}
	s, err := OpenDefault()
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "a", 1, false)
	_ = s.Close()
	dir := t.TempDir()
	t.Setenv(gonbEnv, dir)
	for range 2 {
		s, err = OpenDefault()
		if err != nil {
			t.Fatal(err)
		}
		if s.Find("a") == nil {
			add(t, s, "a", 1, false)
		}
		_ = s.Close()
	}
	path := filepath.Join(dir, "halftone", "session")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || Where() != path {
		t.Errorf("%v %v", info, err)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	t.Setenv(PathEnv, "/proc/1073741824/fd/3")
	if _, err := OpenDefault(); err == nil {
		t.Error("a kernel that is gone")
	} else {
		t.Log(err)
	}
	bad := filepath.Join(dir, "text")
	if err := os.WriteFile(bad, bytes.Repeat([]byte("text"), 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(bad); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// TestKilledWhileItBegins: whatever a process had written of the head when it was killed, the next one goes on from there.
func TestKilledWhileItBegins(t *testing.T) {
	both(t, func(t *testing.T, path string) {
		s := reopen(t, nil, path)
		whole := bytes.Clone(s.head)
		_ = s.Close()
		if unbegun(whole) {
			t.Fatal("nothing was begun")
		}
		for _, words := range [][]int{{}, {8}, {16}, {8, 16}, {0, 8, 16}} {
			head := make([]byte, len(whole))
			for _, at := range words {
				copy(head[at:at+8], whole[at:])
			}
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt(head, 0); err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
			s, err := Open(path)
			if err != nil {
				t.Errorf("words at %v: %v", words, err)
				continue
			}
			if !bytes.Equal(s.head, whole) {
				t.Errorf("words at %v: the head is not made again", words)
			}
			_ = s.Close()
		}
	})
}
