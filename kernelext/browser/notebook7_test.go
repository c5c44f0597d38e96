package browser

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// notebook7 pins the Notebook 7 that goes with the installation's JupyterLab; what it needs in turn is there with JupyterLab.
const notebook7 = "notebook==7.6.5 --hash=sha256:b27b4af6e410e7456cfffc6fb5a764dcfb7a331408907d483024d6ddb5ec05f2\n"

// TestNotebook7 opens an executed notebook, which is not trusted, in Notebook 7: our extension draws every figure there, too, and its panel lists
// them.
func TestNotebook7(t *testing.T) {
	ready(t)
	notebook := executed(t)
	figures := storedFigures(t, notebook)
	address := startNotebook7(t)
	b, err := os.ReadFile(notebook)
	if err == nil {
		err = os.WriteFile(filepath.Join(suite.lab.root, "notebook7.ipynb"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := newTab(t, suite.browser, address)
	u := *p.base
	u.Path = "/notebooks/notebook7.ipynb"
	p.run("opening the notebook", chromedp.Navigate(u.String()))
	const there = `window.jupyterapp && window.jupyterapp.restored && document.querySelector('.jp-NotebookPanel')`
	p.wait("Notebook 7 is there", there)
	p.probe()
	const cards = `document.querySelectorAll('.jp-OutputArea-output .ht-card')`
	p.wait("all figures are drawn by the extension", fmt.Sprintf(`%s.length === %d`, cards, len(figures)))
	for i, f := range figures {
		var m measured
		p.eval("looking at a figure", fmt.Sprintf(`(async () => { const f = %s[%d]; f.querySelectorAll('details').forEach((d) => { d.open = true; }); f.scrollIntoView({ block: 'start' }); await probe.frames(5); return probe.look(f, f.closest('.jp-OutputArea-output')); })()`, cards, i), &m)
		if len(m.Faint)+len(m.Hidden) > 0 || m.Scripts > 0 || m.Controls < 3 || !strings.Contains(m.Text, f.Data.Title) {
			t.Errorf("%s: %+v", f.Data.Kind, m)
		}
	}
	p.snap("notebook7")
	p.eval("opening the panel", `jupyterapp.commands.execute('halftone:precision').then(() => true)`, nil)
	p.wait("the panel lists them", fmt.Sprintf(`[...document.querySelectorAll('.ht-side .ht-entry')].filter((e) => e.checkVisibility()).length === %d`, len(figures)))
	p.snap("notebook7-panel")
	_ = p.tryEval(`window.jupyterapp.serviceManager.sessions.shutdownAll().then(() => true)`, nil)
	// Notebook 7 may complain of itself: of a plugin's settings that come before those of another, for one.
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		if strings.Contains(problem, "halftone") || strings.Contains(problem, "remoteEntry") {
			t.Errorf("console of the page: %s", problem)
		}
	}
}

// startNotebook7 starts it on the lab's notebooks and returns its address. It is installed once, below .halftone.
func startNotebook7(t *testing.T) string {
	t.Helper()
	checkout, err := checkoutDir()
	if err != nil {
		t.Fatal(err)
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(notebook7, "notebook=="), " ")
	dir := filepath.Join(checkout, ".halftone", "notebook-"+version)
	if _, err := os.Stat(filepath.Join(dir, "notebook")); errors.Is(err, os.ErrNotExist) {
		list := filepath.Join(t.TempDir(), "requirements.txt")
		if err := os.WriteFile(list, []byte(notebook7), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
		defer cancel()
		cmd := suite.lab.command(ctx, suite.lab.python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:", "--target", dir, "-r", list)
		if out, err := cmd.CombinedOutput(); err != nil {
			_ = os.RemoveAll(dir)
			t.Skipf("needs Notebook 7, and pip cannot get it: %v\n%s", err, out)
		}
	}
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	log := &tailBuffer{}
	cmd := exec.Command(suite.lab.python, "-m", "notebook", "--no-browser", "--allow-root", "--ServerApp.root_dir="+suite.lab.root, "--ServerApp.ip=127.0.0.1", "--ServerApp.port="+strconv.Itoa(port),
		"--ServerApp.port_retries=0", "--JupyterNotebookApp.expose_app_in_browser=True")
	cmd.Dir, cmd.Stdout, cmd.Stderr = suite.lab.root, log, log
	token := ""
	for _, v := range suite.lab.env {
		if strings.HasPrefix(v, "JUPYTER_TOKEN=") {
			token = strings.TrimPrefix(v, "JUPYTER_TOKEN=")
		}
	}
	cmd.Env = append(suite.lab.env, "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1", "JUPYTERLAB_DIR="+joined(t, dir))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
	})
	for began := time.Now(); time.Since(began) < 3*time.Minute; time.Sleep(200 * time.Millisecond) {
		if serving.MatchString(log.String()) {
			return (&url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(port), Path: "/tree", RawQuery: "token=" + token}).String()
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("Notebook 7 ended: %v\n%s", err, log)
		default:
		}
	}
	t.Fatalf("Notebook 7 does not answer\n%s", log)
	return ""
}

// joined returns a folder in which what JupyterLab and Notebook 7 bring for pages is together, as it is where both are installed in one place.
func joined(t *testing.T, dir string) string {
	t.Helper()
	out := t.TempDir()
	link := func(from, to string) {
		names, err := filepath.Glob(filepath.Join(from, "*"))
		if err == nil {
			err = os.MkdirAll(to, 0o755)
		}
		for _, name := range names {
			if err == nil && filepath.Base(name) != "schemas" {
				err = os.Symlink(name, filepath.Join(to, filepath.Base(name)))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	lab := filepath.Join(filepath.Dir(filepath.Dir(suite.lab.python)), "share", "jupyter", "lab")
	link(lab, out)
	link(filepath.Join(lab, "schemas"), filepath.Join(out, "schemas"))
	link(filepath.Join(dir, "share", "jupyter", "lab", "schemas"), filepath.Join(out, "schemas"))
	return out
}

// serving is what Jupyter's server says once it answers.
var serving = regexp.MustCompile(`is running at`)
