package share

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

func TestRunsComeBackWhole(t *testing.T) {
	dir := t.TempDir()
	one := widgets.Run{Name: "amp", DType: amp.Float16, Loss: []float64{3, 2, 0.5}, StepNS: []int64{70}, Skipped: 1, Bytes: 4096}
	path := filepath.Join(dir, "float16-0.05.ipynb")
	writeNotebook(t, path, source, losses(7), widgets.Compare(one))
	runs, err := Runs(path)
	must(t, err)
	one.Name = "float16-0.05"
	if !reflect.DeepEqual(runs, []widgets.Run{one}) {
		t.Errorf("%+v, want %+v", runs, one)
	}
	writeNotebook(t, path, source, losses(0.5))
	runs, err = Runs(path)
	must(t, err)
	if len(runs) != 2 || runs[0].Name != "float16-0.05 float32" || runs[1].Name != "float16-0.05 float16" {
		t.Errorf("%+v", runs)
	}
}

func TestRunsSaysWhatIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ipynb")
	writeNotebook(t, path, source, widgets.Bits(1))
	if _, err := Runs(path); err == nil || !strings.Contains(err.Error(), "widgets.Compare") {
		t.Errorf("no runs: %v", err)
	}
	writeNotebook(t, path, source, widgets.Compare(widgets.Run{Loss: make([]float64, 4000)}))
	if _, err := Runs(path); err == nil || !strings.Contains(err.Error(), "of the 4000 losses") {
		t.Errorf("thinned: %v", err)
	}
}
