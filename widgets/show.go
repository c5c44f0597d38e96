package widgets

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/halftone-ml/halftone/widgets/internal/gonb"
)

// StableEnv names the environment variable that, when set to anything but "", makes Show leave measurements out, so that
// a notebook that is executed again has the same outputs.
const StableEnv = "HALFTONE_STABLE"

// A Renderer draws a figure: MIME types to what the notebook format stores for each (text, or base64 for images).
type Renderer func(*Figure) (map[string]any, error)

var (
	rendererMu sync.RWMutex
	renderer   Renderer
)

// RegisterRenderer makes Show draw figures in this process as well. Importing widgets/render does it; Halftone's kernel draws
// them itself, so that cells need not.
func RegisterRenderer(r Renderer) {
	rendererMu.Lock()
	defer rendererMu.Unlock()
	renderer = r
}

// Show displays figures: as outputs of the cell in a GoNB notebook, as text on standard output elsewhere. A nil figure is
// shown as one that says so. What was printed before usually comes before the figures, and Show returns when the notebook has taken the outputs.
func Show(figs ...*Figure) {
	if gonb.Connected() && len(figs) > 0 {
		gonb.Printed(printPatience)
	}
	for _, f := range figs {
		if f == nil {
			f = &Figure{Schema: Schema, Kind: KindDecisions, Title: "No figure", Decisions: &DecisionsData{Missing: "widgets.Show was given a nil figure."}}
			f.Alt = f.Decisions.Missing
		}
		if os.Getenv(StableEnv) != "" {
			f = f.Stable()
		}
		if !gonb.Connected() {
			print(os.Stdout, f)
			continue
		}
		report(gonb.Display(bundle(f), ""))
	}
	if gonb.Connected() && len(figs) > 0 {
		report(gonb.Sync(syncPatience))
	}
}

// printPatience bounds the wait for what the cell has printed before: a wrong order is better than a cell that waits.
const printPatience = 100 * time.Millisecond

// syncPatience bounds the wait for the notebook to take the outputs: a kernel that does not answer must not keep the cell
// running forever.
const syncPatience = 10 * time.Second

// report says once what keeps figures from the notebook.
func report(err error) {
	if err != nil {
		reportOnce.Do(func() {
			fmt.Fprintf(os.Stderr, "widgets: outputs may be missing: %v. Restart the kernel if it stays so.\n", err)
		})
	}
}

var reportOnce sync.Once

// print writes a figure's text, with an empty line behind it.
func print(w io.Writer, f *Figure) { fmt.Fprintf(w, "%s\n", f.Text()) }

// bundle is the display data of a figure. All of it goes to GoNB as strings, the JSON too: one type that GoNB does not know
// makes it drop all that follows.
func bundle(f *Figure) map[string]string {
	out := map[string]string{"text/plain": f.Text()}
	if b, err := json.Marshal(f); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		out[MIME] = string(b)
	}
	for mime, face := range f.Faces() { // a figure of the user's own needs no renderer
		out[mime] = face
	}
	rendererMu.RLock()
	draw := renderer
	rendererMu.RUnlock()
	if draw == nil {
		return out
	}
	faces, err := draw(f)
	if err != nil {
		fmt.Fprintf(os.Stderr, "widgets: this figure is shown as text only: %v\n", err)
		return out
	}
	for mime, v := range faces {
		if s, ok := v.(string); ok && mime != MIME {
			out[mime] = s
		}
	}
	return out
}
