package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, content := range []string{
		`{"name":"a","value":1,"unit":"x"}` + "\n" + `{"name":"alone","value":5000.4,"unit":"ns","note":"1|2"}`,
		`{"name":"a","value":4,"unit":"x"}`,
		`{"name":"a","value":3,"unit":"x"}`,
		`{"name":"a","value":4,"unit":"x"}` + "\n" + `{"name":"theirs","value":0.25,"unit":"s"}`,
	} {
		file := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	var b strings.Builder
	if err := table(&b, files); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| a | 2 | 4 | 0.500 | x |  |", "| alone | 5000 |  |  | ns | 1/2 |", "| theirs |  | 0.25 |  | s |  |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if err := table(&b, []string{filepath.Join(dir, "absent")}); err == nil {
		t.Error("a file that is not there")
	}
}

// TestRemarks: what PyTorch says of its figure is told, once, and ours stand beside those of PyTorch tuned.
func TestRemarks(t *testing.T) {
	rows := &rowSet{}
	rows.add(figure{"a", 2, "us", ""}, ours)
	rows.add(figure{"a", 1, "us", "by FLASH_ATTENTION"}, peer)
	rows.add(figure{"b", 2, "us", "of 64"}, ours)
	rows.add(figure{"b", 1, "us", "of 64"}, peer)
	rows.add(figure{"c step", 2, "us", "mine"}, ours)
	rows.add(figure{"c step", 8, "us", "its"}, peer)
	rows.add(figure{"c step" + tuned, 4, "us", "channels last"}, peer)
	rows.add(figure{"d" + tuned, 4, "us", ""}, peer)
	var b strings.Builder
	rows.besideTuned()
	rows.write(&b)
	for _, want := range []string{"| a | 2 | 1 | 2.000 | us | PyTorch: by FLASH_ATTENTION |", "| b | 2 | 1 | 2.000 | us | of 64 |", "| c step | 2 | 8 | 0.250 | us | mine; PyTorch: its |",
		"| c step, tuned | 2 | 4 | 0.500 | us | PyTorch: channels last |", "| d, tuned |  | 4 |  | us |  |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
