package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
)

// TestShareVerifyCompare packs a notebook, executes the package again, changes it, and collects its runs.
func TestShareVerifyCompare(t *testing.T) {
	l, _ := testenv.Installed(t)
	path := writeNotebook(t, cell{code: `import (
	"os"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

%%
data, err := os.ReadFile("shift.txt")
if err != nil {
	panic(err)
}
root := amp.NewScope(amp.Seed(3))
defer root.Close()
run := widgets.Run{Name: "noise"}
for _, v := range amp.Values[float32](amp.Randn(root, amp.Float32, 0, 1, 5)) {
	run.Loss = append(run.Loss, float64(v)*float64(v)+float64(len(data)))
}
widgets.Show(widgets.Compare(run))`})
	dir := filepath.Dir(path)
	if err := os.WriteFile(filepath.Join(dir, "shift.txt"), []byte("12"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "packed")
	r := halftone(t, l, "share", "--output", out, path)
	if r.code != 0 || !strings.Contains(r.stdout, "1 figure computed with reproducible kernels, 1 seed, 1 data file;") {
		t.Fatalf("share: %+v", r)
	}
	r = halftone(t, l, "verify", out)
	if r.code != 0 || !strings.Contains(r.stdout, "bit for bit") || !strings.Contains(r.stdout, "1 of 1 figures as expected") {
		t.Errorf("verify: %+v", r)
	}
	if err := os.WriteFile(filepath.Join(out, "shift.txt"), []byte("123"), 0o644); err != nil {
		t.Fatal(err)
	}
	r = halftone(t, l, "verify", out)
	if r.code != 1 || !strings.Contains(r.stdout, "shift.txt is not the file that was packed") || !strings.Contains(r.stdout, "DIFFERS") {
		t.Errorf("verify with other data: %+v", r)
	}
	r = halftone(t, l, "compare", "--output", filepath.Join(dir, "runs.svg"), filepath.Join(out, "test.ipynb"))
	if r.code != 0 || !strings.Contains(r.stdout, "Loss of runs") || !strings.Contains(read(t, filepath.Join(dir, "runs.svg")), "<svg") {
		t.Errorf("compare: %+v", r)
	}
	for _, bad := range []struct {
		code int
		args []string
	}{
		{2, []string{"share"}}, {2, []string{"share", path, path}}, {1, []string{"verify", dir + "/none"}}, {1, []string{"compare", path}},
		{2, []string{"compare", "--output", "x.pdf", path}},
	} {
		if r := halftone(t, l, bad.args...); r.code != bad.code || strings.Count(strings.TrimSpace(r.stderr), "\n") > 0 || r.stderr == "" {
			t.Errorf("%q: %+v", bad.args, r)
		}
	}
}
