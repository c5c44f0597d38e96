package install

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

func TestKernelspec(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	data := filepath.Join(dir, "jupyter")
	if changed, err := installKernelspec(l, data); err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if changed, err := installKernelspec(l, data); err != nil || changed {
		t.Fatalf("the second time: changed %v, %v", changed, err)
	}
	b, err := os.ReadFile(filepath.Join(data, "kernels", "halftone", "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Argv          []string
		DisplayName   string `json:"display_name"`
		Language      string
		InterruptMode string `json:"interrupt_mode"`
		Env           map[string]string
	}
	if err := json.Unmarshal(b, &spec); err != nil {
		t.Fatal(err)
	}
	if spec.DisplayName != "Go (AMP)" || spec.Language != "go" || spec.InterruptMode != "message" || spec.Env[layout.HomeEnv] != l.Home ||
		len(spec.Argv) != 3 || spec.Argv[0] != l.Halftone() || spec.Argv[1] != "kernel" || spec.Argv[2] != "{connection_file}" {
		t.Errorf("kernel.json is\n%s", b)
	}
	for _, logo := range []string{"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"} {
		if _, err := os.Stat(filepath.Join(data, "kernels", "halftone", logo)); err != nil {
			t.Error(err)
		}
	}
	if there, ours := ownKernelspec(layout.Layout{Home: "/another"}, data); !there || ours {
		t.Error("a kernelspec of one installation passes for another's")
	}
}

func TestFrontEnd(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	data := filepath.Join(dir, "jupyter")
	if status, _ := frontEndState(data); status != Missing {
		t.Errorf("before: %s", status)
	}
	write(t, filepath.Join(frontEndDir(data), "static", "old.js"), "from an older version")
	if changed, err := installFrontEnd(l, data); err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if _, err := os.Stat(filepath.Join(frontEndDir(data), "static", "old.js")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file of an older version stayed")
	}
	if status, detail := frontEndState(data); status != OK {
		t.Errorf("installed: %s, %s", status, detail)
	}
	if changed, err := installFrontEnd(l, data); err != nil || changed {
		t.Fatalf("the second time: changed %v, %v", changed, err)
	}
	if err := os.Truncate(filepath.Join(frontEndDir(data), "static", "echarts.min.js"), 10); err != nil {
		t.Fatal(err)
	}
	if status, detail := frontEndState(data); status != Broken || !strings.Contains(detail, "echarts.min.js") {
		t.Errorf("damaged: %s, %s", status, detail)
	}
}
