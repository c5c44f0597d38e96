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
