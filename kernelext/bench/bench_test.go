package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
)

func TestParseSteps(t *testing.T) {
	const out = `goos: linux
BenchmarkMLPStep/float32-2         	     100	    300000 ns/op	    1024 B/op	       3 allocs/op
BenchmarkMLPStep/float16-2         	     100	    500000 ns/op
BenchmarkMLPStep/float32-2         	     100	    100000.5 ns/op
BenchmarkMLPStep/float32-2         	     100	    200000 ns/op
PASS
`
	rows, err := parseSteps(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].Name != "MLPStep/float32" || rows[0].Median != 200*time.Microsecond || rows[0].Fastest != 100*time.Microsecond ||
		rows[0].Slowest != 300*time.Microsecond || rows[1].Median != 500*time.Microsecond {
		t.Errorf("%+v", rows)
	}
	if _, err := parseSteps(strings.NewReader("PASS\n")); err == nil {
		t.Error("no times are no error")
	}
	var b strings.Builder
	Print(&b, "step", rows)
	for _, want := range []string{"MLPStep/float32", "200.0 µs", "2.50×"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}

func TestMedianOfAnEvenNumber(t *testing.T) {
	if m := newRow("", []time.Duration{4, 1, 3, 2}).Median; m != 2 {
		t.Errorf("median %v", m)
	}
}

func TestCellsAreTimed(t *testing.T) {
	l, state := testenv.Installed(t)
	rounds := 0
	rows, err := Cells(t.Context(), l, state, install.JupyterEnv(l, state), 1, Cases, func(int) { rounds++ })
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(Cases) || rounds != 2 {
		t.Fatalf("%d rows after %d rounds", len(rows), rounds)
	}
	for _, r := range rows {
		if r.Median < 10*time.Millisecond || r.Median > 5*time.Minute {
			t.Errorf("%s took %v", r.Name, r.Median)
		}
	}
	for _, bad := range []struct {
		want string
		c    Case
	}{
		{"does not compile", Case{Name: "does not compile", Kernel: "halftone", Code: "%%\nnonsense"}},
		{"0 of 3 updates", Case{Name: "loses updates", Kernel: "halftone", Code: trivial, Updates: 3}},
		{"2 of 9 characters", Case{Name: "loses output", Kernel: "halftone", Code: trivial, Bytes: 9}},
	} {
		if _, err := Cells(t.Context(), l, state, install.JupyterEnv(l, state), 1, []Case{bad.c}, func(int) {}); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%s: %v", bad.c.Name, err)
		}
	}
}
