package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const changerEnv = "STORE_TEST_CHANGER"

func TestMain(m *testing.M) {
	if path := os.Getenv(changerEnv); path != "" {
		if err := changer(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// changer changes everything to the next number, commits, and does it again, with anchors in quick succession. Now and then it adds
// a tensor, or removes an object and adds it again.
func changer(path string) error {
	anchorEvery = time.Millisecond
	s, err := Open(path)
	if err != nil {
		return err
	}
	things := map[string]*thing{}
	var v int
	for _, o := range s.Objects() {
		th := &thing{state: string(o.State()), small: append([]byte(nil), o.Tensors[0].Elements()...)}
		if err := s.Attach(o, th); err != nil {
			return err
		}
		for _, t := range o.Tensors {
			if b := t.Block(); b != nil {
				th.large = append(th.large, b)
			}
		}
		if o.Name == "a" {
			fmt.Sscan(th.state, &v)
		}
		things[o.Name] = th
	}
	for name, th := range things {
		if fault := th.torn(byte(v)); fault != "" {
			return fmt.Errorf("%s at %d: %s", name, v, fault)
		}
	}
	fmt.Println("whole", v)
	for {
		v++
		for name, th := range things {
			th.set(byte(v))
			th.state = fmt.Sprint(v)
			if v%7 == 0 && name == "a" && len(th.large) < 12 {
				more := &Tensor{Name: fmt.Sprint("late", v), DType: "bool", Shape: []int{largeSize}, Size: largeSize}
				if err := s.Extend(s.Find(name), []*Tensor{more}); err != nil {
					return err
				}
				th.large = append(th.large, more.Block())
				th.set(byte(v))
				th.state = fmt.Sprint(v)
			}
		}
		if err := s.EndStep(s.Due() || v%5 == 0); err != nil {
			return err
		}
	}
}

// torn says what of a thing is not as set(v) made it.
func (th *thing) torn(v byte) string {
	for i, b := range append([][]byte{th.small}, blockBytes(th.large)...) {
		for k, x := range b {
			if x != v {
				return fmt.Sprintf("tensor %d is %d at %d", i, x, k)
			}
		}
	}
	return ""
}

func blockBytes(list []*Block) (out [][]byte) {
	for _, b := range list {
		out = append(out, b.Bytes())
	}
	return out
}

// TestKilled kills processes that change and commit as fast as they can. The next one finds everything at one number, and none that
// is smaller than before.
func TestKilled(t *testing.T) { kill(t, 150) }

func kill(t *testing.T, kills int) {
	both(t, func(t *testing.T, path string) {
		s := reopen(t, nil, path)
		for _, name := range []string{"a", "b"} {
			th := add(t, s, name, 3, false)
			th.set(0)
			if err := s.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		_ = s.Close()
		last, found, moved := 0, 0, 0
		r := rand.New(rand.NewPCG(3, 4))
		const quiet = 25 * time.Millisecond
		span := quiet // within which a process is killed
		for range kills {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), changerEnv+"="+path)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(r.Int64N(int64(span))))
			_ = cmd.Process.Kill()
			line, _ := bufio.NewReader(out).ReadString('\n')
			_ = cmd.Wait()
			var v int
			if line == "" {
				span = min(span*5/4, 2*time.Second) // a busy machine brings processes on their way later
				continue
			}
			span = max(span*9/10, quiet)
			if _, err := fmt.Sscanf(strings.TrimSpace(line), "whole %d", &v); err != nil || v < last {
				t.Fatalf("after %d: %s", last, line)
			}
			if found++; v > last {
				moved++
			}
			last = v
		}
		t.Logf("%d processes killed, %d had looked, %d of them found another state than the one before; the last was %d", kills, found, moved, last)
		if found < kills/4 || moved < kills/8 {
			t.Error("that is too few to prove anything")
		}
	})
}
