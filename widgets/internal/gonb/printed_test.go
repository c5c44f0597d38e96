package gonb

import (
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// What was printed has been read when Printed returns; and where nobody reads, it gives up.
func TestPrinted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what is left in a pipe")
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	stdout := os.Stdout
	os.Stdout = w
	defer func() { os.Stdout = stdout }()

	if _, err := w.WriteString("a line\n"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	Printed(20 * time.Millisecond)
	if d := time.Since(began); d < 20*time.Millisecond {
		t.Errorf("nobody has read, and it waited %v", d)
	}
	var read atomic.Bool
	go func() {
		time.Sleep(50 * time.Millisecond)
		read.Store(true)
		_, _ = r.Read(make([]byte, 100))
	}()
	Printed(time.Minute)
	if !read.Load() {
		t.Error("it returned before the line was read")
	}
}
