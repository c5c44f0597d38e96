package kernel

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/wire"
	"github.com/halftone-ml/halftone/widgets"
)

// startStock starts GoNB itself, without our kernel before it, as its users do who work in a checkout.
func startStock(t *testing.T) *client {
	t.Helper()
	l := home(t)
	s, err := l.Load()
	if err != nil {
		t.Fatal(err)
	}
	s.Go, _ = exec.LookPath("go")
	conn, file := connectionFile(t)
	cmd := exec.Command(l.GoNB(), "--kernel", file, "-go_work="+s.Checkout)
	cmd.Env = setEnv(wire.Env(l, s, os.Environ()), "TMPDIR="+l.Home)
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		killSession(cmd.Process.Pid)
		_ = cmd.Wait()
	})
	c := dial(t, conn)
	c.ready()
	// Without our kernel the module needs the checksums of what it needs.
	sums, err := os.ReadFile(filepath.Join(s.Checkout, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range workDirs(l.Home) {
		if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// In stock GoNB figures have their text and data, and with widgets/render imported all of their faces, live ones too.
func TestFiguresInStockGoNB(t *testing.T) {
	c := startStock(t)
	const body = `
%%
live := widgets.NewLive(40)
for i := range 40 {
	live.StepLoss(1/float64(i+1), nil)
	time.Sleep(10*time.Millisecond)
}
widgets.Show(widgets.Compare(widgets.Run{Name: "a", Loss: []float64{1, 0.5}}))`
	const data, drawn = "[" + widgets.MIME + " text/plain]", "[" + widgets.MIME + " image/png image/svg+xml text/html text/plain]"
	for imports, want := range map[string]string{
		"import \"github.com/halftone-ml/halftone/widgets\"\n":                                                              data,
		"import \"github.com/halftone-ml/halftone/widgets\"\nimport _ \"github.com/halftone-ml/halftone/widgets/render\"\n": drawn,
	} {
		r := c.run(imports + body).ok(t)
		n := len(r.displays)
		if n < 3 || r.stderr != "" {
			t.Fatalf("%d displays, %q", n, r.stderr)
		}
		for i, d := range r.displays {
			got := fmt.Sprint(slices.Sorted(maps.Keys(d)))
			expected := want
			if i < n-2 && want == drawn { // while it runs
				expected = strings.ReplaceAll(want, " image/png image/svg+xml", "")
			}
			if got != expected {
				t.Errorf("display %d of %d has %s, want %s", i, n, got, expected)
			}
		}
		c.run("%reset").ok(t)
	}
}
