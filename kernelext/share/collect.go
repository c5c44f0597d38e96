package share

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// Runs returns the runs of the last figure of kind compare that an executed notebook has saved, named after the notebook: the points
// of a grid are notebooks, and collected they make one figure. A figure keeps at most 1,500 losses; one that was thinned to that
// is refused, since the steps between are lost.
func Runs(path string) ([]widgets.Run, error) {
	figs, err := widgets.Load(path)
	if err != nil && len(figs) == 0 {
		return nil, err
	}
	var last *widgets.Figure
	for _, f := range figs {
		if f.Kind == widgets.KindCompare && f.Runs != nil && len(f.Runs.Runs) > 0 {
			last = f
		}
	}
	if last == nil {
		return nil, fmt.Errorf("%s has no runs saved: end its last cell with widgets.Show(widgets.Compare(run)), and execute it with `halftone run --output`", path)
	}
	stem := strings.TrimSuffix(filepath.Base(path), ".ipynb")
	var runs []widgets.Run
	for i, row := range last.Runs.Runs {
		if len(row.At) > 0 {
			return nil, fmt.Errorf("%s: the figure has %d of the %d losses of run %q: show fewer steps or fewer runs in one figure", path, len(row.Loss), row.Steps, row.Name)
		}
		r := widgets.Run{Name: stem, DType: row.DType, Skipped: row.Skipped, Bytes: last.Peak(i)}
		if len(last.Runs.Runs) > 1 {
			r.Name += " " + row.Name
		}
		for _, v := range row.Loss {
			r.Loss = append(r.Loss, float64(v))
		}
		if ns := last.Measured(i); ns > 0 {
			r.StepNS = []int64{ns}
		}
		runs = append(runs, r)
	}
	return runs, nil
}
