package gonb

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

const childEnv = "HALFTONE_TEST_GONB"

// TestMain makes the test binary a cell's program. It has gonbui in it, which reads GoNB's answers.
func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "both": // two goroutines, one with each
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 300 {
				gonbui.DisplayHTML(fmt.Sprint("theirs", i, strings.Repeat("x", 997*i%60_000)))
			}
			gonbui.Sync()
		})
		for i := range 300 {
			if err := Display(map[string]string{"text/html": fmt.Sprint("ours", i, strings.Repeat("y", 1009*i%60_000))}, ""); err != nil {
				panic(err)
			}
		}
		wg.Wait()
		if err := Sync(2 * time.Minute); err != nil {
			panic(err)
		}
	case "silent":
		fmt.Println(Sync(300 * time.Millisecond))
	}
}

// The messages are what encoding/gob makes of gonbui's types, and both may be in one stream.
func TestEncoding(t *testing.T) {
	long := strings.Repeat("ü", 1<<20)
	var stream bytes.Buffer
	theirs := gob.NewEncoder(&stream)
	want := []*protocol.DisplayData{
		{Data: map[protocol.MIMEType]any{"text/plain": "a", "text/html": "", "x/y": long}},
		{Data: map[protocol.MIMEType]any{"text/html": "theirs"}, DisplayID: "id", Metadata: map[string]any{"a": 1}},
		{Data: map[protocol.MIMEType]any{"text/plain": "b"}, DisplayID: "live_1"},
		{Data: map[protocol.MIMEType]any{protocol.MIMECommValue: protocol.CommValue{Address: protocol.GonbuiSyncAddress, Value: 700}}},
		{Data: map[protocol.MIMEType]any{}},
	}
	stream.Write(definitions())
	stream.Write(display(map[string]string{"text/plain": "a", "text/html": "", "x/y": long}, ""))
	if err := theirs.Encode(want[1]); err != nil {
		t.Fatal(err)
	}
	stream.Write(display(map[string]string{"text/plain": "b"}, "live_1"))
	stream.Write(question(700))
	stream.Write(display(nil, ""))
	if err := theirs.Encode(want[1]); err != nil {
		t.Fatal(err)
	}
	want = append(want, want[1])
	in := gob.NewDecoder(&stream)
	for i, w := range want {
		got := new(protocol.DisplayData)
		if err := in.Decode(got); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if len(got.Data) == 0 {
			got.Data = w.Data
		}
		if a, b := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", w); a != b {
			t.Errorf("message %d is %.300s, want %.300s", i, a, b)
		}
	}
	if err := in.Decode(new(protocol.DisplayData)); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestAcks(t *testing.T) {
	var stream bytes.Buffer
	enc := gob.NewEncoder(&stream)
	for i := range 300 {
		if err := enc.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: i}); err != nil {
			t.Fatal(err)
		}
	}
	a := &ackReader{&stream}
	for i := range 300 {
		if err := a.next(); err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	if err := a.next(); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
	for _, bad := range []string{"\x80", "\xf0", "\xfc\xff\xff\xff\xff", "\x05\x80"} {
		if err := (&ackReader{strings.NewReader(bad)}).next(); err == nil {
			t.Errorf("%q was an answer", bad)
		}
	}
	for n := -70000; n < 70000; n += 37 {
		var b buffer
		b.int(n)
		if positive(b) != (n >= 0) {
			t.Errorf("the sign of %d, % x", n, b)
		}
	}
}

// pipes makes the pipes of a GoNB.
func pipes(t *testing.T) (to, back string) {
	dir := t.TempDir()
	to, back = filepath.Join(dir, "to"), filepath.Join(dir, "back")
	for _, p := range []string{to, back} {
		if err := makePipe(p); err != nil {
			t.Skip("no named pipes here:", err)
		}
	}
	return to, back
}

// Both ways of showing things may be used in one program, at the same time: all arrives, in the order of each.
func TestBesideGonbui(t *testing.T) {
	to, back := pipes(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=both", pipeEnv+"="+to, backEnv+"="+back)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	r, err := os.Open(to)
	if err != nil {
		t.Fatal(err)
	}
	acks := make(chan int, 10)
	go func() {
		w, err := os.OpenFile(back, os.O_WRONLY, 0)
		if err != nil {
			return
		}
		out := gob.NewEncoder(w)
		for n := range acks {
			_ = out.Encode(&protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: n})
		}
	}()
	count := map[string]int{}
	in := gob.NewDecoder(r)
	for {
		d := new(protocol.DisplayData)
		if err := in.Decode(d); err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		if c, ok := d.Data[protocol.MIMECommValue].(protocol.CommValue); ok {
			acks <- c.Value.(int)
			continue
		}
		html := d.Data["text/html"].(string)
		who := html[:strings.IndexAny(html, "0123456789")]
		if want := fmt.Sprint(who, count[who]); !strings.HasPrefix(html, want) {
			t.Fatalf("%.20s, want %s", html, want)
		}
		count[who]++
	}
	if err := cmd.Wait(); err != nil || count["ours"] != 300 || count["theirs"] != 300 {
		t.Errorf("%v: %v\n%s", count, err, errs.String())
	}
}

// A GoNB that reads nothing does not stop a program.
func TestSyncGivesUp(t *testing.T) {
	to, back := pipes(t)
	r, err := os.OpenFile(to, os.O_RDWR, 0) // opens without waiting for a writer
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=silent", pipeEnv+"="+to, backEnv+"="+back)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), errNoAnswer.Error()) {
		t.Errorf("%v %s", err, out)
	}
}

func TestUniqueID(t *testing.T) {
	seen := map[string]bool{}
	for range 10_000 {
		seen[UniqueID("a")] = true
	}
	if len(seen) != 10_000 {
		t.Errorf("%d ids", len(seen))
	}
}
