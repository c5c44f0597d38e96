package kernel

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	key := []byte("secret")
	m := author{key, "s"}.compose("execute_request", nil, map[string]any{"code": "x"})
	m.ids = [][]byte{[]byte("a"), []byte("b")}
	m.buffers = [][]byte{{1, 2}, {}}
	frames := m.frames()

	got, err := parse(frames, key)
	if err != nil {
		t.Fatal(err)
	}
	if got.kind != "execute_request" || got.id == "" || !reflect.DeepEqual(got.frames(), frames) {
		t.Errorf("%+v", got)
	}
	for i := range frames {
		bad := make([][]byte, len(frames))
		for j := range frames {
			bad[j] = bytes.Clone(frames[j])
		}
		if len(bad[i]) == 0 {
			continue
		}
		bad[i][0] ^= 1
		_, err := parse(bad, key)
		signed := i >= 2 && i <= 7 // the delimiter, the signature and what it covers
		if signed != (err != nil) {
			t.Errorf("a changed frame %d: %v", i, err)
		}
	}
	if _, err := parse(frames, []byte("other")); !errors.Is(err, errSignature) {
		t.Errorf("another key: %v", err)
	}
	if _, err := parse(frames, nil); err != nil {
		t.Errorf("no key: %v", err)
	}
	for n := range 8 {
		if _, err := parse(frames[:n], key); err == nil {
			t.Errorf("%d frames were a message", n)
		}
	}
	changed, err := parse(got.withContent([]byte(`{"code":"y"}`), key).frames(), key)
	if err != nil || string(changed.content) != `{"code":"y"}` || !bytes.Equal(changed.header, m.header) || len(changed.buffers) != 2 {
		t.Errorf("%v %+v", err, changed)
	}
}

func TestConnectionFile(t *testing.T) {
	good := `{"shell_port":1,"control_port":2,"stdin_port":3,"iopub_port":4,"hb_port":5,"ip":"::1","key":"k","transport":"tcp","signature_scheme":"hmac-sha256","kernel_name":"x"}`
	file := filepath.Join(t.TempDir(), "kernel-1.json")
	read := func(text string) (connection, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return readConnection(file)
	}
	c, err := read(good)
	if err != nil || c.endpoint(c.HBPort) != "tcp://[::1]:5" {
		t.Errorf("%v %s", err, c.endpoint(c.HBPort))
	}
	for old, bad := range map[string]string{
		`"hb_port":5`: `"hb_port":0`, `"tcp"`: `"udp"`, `"hmac-sha256"`: `"hmac-md5"`, `"::1"`: `""`, `{"shell`: `"shell`,
	} {
		if _, err := read(strings.Replace(good, old, bad, 1)); err == nil || !strings.HasPrefix(err.Error(), "kernel: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := readConnection(file + "x"); err == nil {
		t.Error("a missing file was read")
	}

	dir, err := os.MkdirTemp("/tmp", "ht")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	child, path, err := c.forChild(dir, "kernel-1.json")
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || filepath.Base(path) != "kernel-1.json" {
		t.Errorf("%v %v %s", err, info, path)
	}
	b, _ := os.ReadFile(path)
	var again connection
	if json.Unmarshal(b, &again) != nil || again != child || again.Key != c.Key || again.Transport != "ipc" {
		t.Errorf("%s", b)
	}
	if _, _, err := c.forChild(filepath.Join(dir, strings.Repeat("long", 30)), "x"); err == nil || !strings.Contains(err.Error(), "HALFTONE_HOME") {
		t.Errorf("a path too long: %v", err)
	}
}

func TestParseStat(t *testing.T) {
	for line, want := range map[string]process{
		"7 (go) S 3 5 5 0":       {7, 3, 5, "go"},
		"8 (a) b (c) R 1 2 3 4":  {8, 1, 2, "a) b (c"},
		"9 (gone) Z 3 5 5 0":     {},
		"nonsense":               {},
		"10 (short) S":           {},
		"11 (odd) S x 5 5 34816": {},
	} {
		got, ok := parseStat(line)
		if ok != (want != process{}) || ok && got != want {
			t.Errorf("%q: %+v %v", line, got, ok)
		}
	}
	self := false
	for _, p := range processes() {
		self = self || p.pid == os.Getpid() && p.parent == os.Getppid()
	}
	if !self {
		t.Error("this process is not in the list")
	}
}
