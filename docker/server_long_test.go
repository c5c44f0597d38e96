//go:build long

package docker_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
)

// slowNotebook has a cell that takes a minute.
const slowNotebook = `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[{"id":"a","cell_type":"code","metadata":{},"outputs":[],
"execution_count":null,"source":"import \"time\"\n%%\ntime.Sleep(time.Minute)"}]}`

// testServer starts JupyterLab, looks at it from outside, and stops it while a cell is running.
func (e *engine) testServer(t *testing.T) {
	began := time.Now()
	id := strings.TrimSpace(e.docker(t, "run", "-d", "-p", "127.0.0.1::8888", "--read-only", "--tmpfs", "/tmp:exec,mode=1777", image))
	defer e.output(time.Minute, "rm", "-f", id)
	e.healthy(t, id, began)
	port := strings.TrimSpace(e.docker(t, "port", id, "8888"))
	if !strings.HasPrefix(port, "127.0.0.1:") {
		t.Errorf("bound to %s", port)
	}
	e.asksForToken(t, id, "http://"+port)
	e.showsLab(t, id, "http://"+port)
	e.docker(t, "exec", "-d", id, "entrypoint", "sh", "-c", "printf '%s' '"+slowNotebook+"' > /tmp/slow.ipynb && halftone run /tmp/slow.ipynb")
	for deadline := time.Now().Add(4 * time.Minute); !strings.Contains(e.docker(t, "top", id), "gonb_"); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the cell does not start:\n" + e.docker(t, "top", id))
		}
	}
	began = time.Now()
	e.docker(t, "stop", id)
	if d := time.Since(began); stretch.Over(d, 5*time.Second) {
		t.Errorf("took %.1f s to stop", d.Seconds())
	} else {
		t.Logf("stopped in %.1f s", d.Seconds())
	}
}

// healthy waits for Docker to say so.
func (e *engine) healthy(t *testing.T, id string, began time.Time) {
	t.Helper()
	for {
		status := strings.TrimSpace(e.docker(t, "inspect", "-f", "{{.State.Status}} {{.State.Health.Status}}", id))
		if status == "running healthy" {
			break
		}
		if stretch.Over(time.Since(began), 30*time.Second) || !strings.HasPrefix(status, "running") {
			log, _ := e.output(time.Minute, "logs", id)
			t.Fatalf("%s after %v\n%s", status, time.Since(began), log)
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("healthy in %.1f s", time.Since(began).Seconds())
}

// token reads it from the address that the container prints.
func (e *engine) token(t *testing.T, id string) string {
	t.Helper()
	log := e.docker(t, "logs", id)
	m := regexp.MustCompile(`open http://127\.0\.0\.1:\d+/lab\?token=([0-9a-f]{48})\n`).FindStringSubmatch(log)
	if m == nil {
		t.Fatalf("no address with a token in the log:\n%s", log)
	}
	return m[1]
}

func (e *engine) asksForToken(t *testing.T, id, address string) {
	t.Helper()
	for query, want := range map[string]int{"": http.StatusForbidden, "?token=wrong": http.StatusForbidden, "?token=" + e.token(t, id): http.StatusOK} {
		answer, err := http.Get(address + "/api/kernelspecs" + query)
		must(t, err)
		body, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("GET /api/kernelspecs%s: %d, want %d", query, answer.StatusCode, want)
		}
		if want == http.StatusOK && !strings.Contains(string(body), `"default": "halftone"`) && !strings.Contains(string(body), `"default":"halftone"`) {
			t.Errorf("kernelspecs: %.300s", body)
		}
	}
}

// showsLab opens a tutorial in headless Chromium and looks for its figures.
func (e *engine) showsLab(t *testing.T, id, address string) {
	t.Helper()
	var chromium string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = found
		}
	}
	if chromium == "" {
		t.Log("no chromium: JupyterLab is not looked at")
		return
	}
	page := fmt.Sprintf("%s/lab/tree/01-first-amp-training.ipynb?token=%s", address, e.token(t, id))
	missing := ""
	for range 3 { // on a busy machine the page may not be whole when Chromium's time is over
		cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--window-size=1400,1600",
			"--timeout=45000", "--virtual-time-budget=30000", "--dump-dom", page)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("chromium: %v", err)
		}
		missing = ""
		for _, want := range []string{"jp-NotebookPanel", "01-first-amp-training.ipynb", "Go (AMP)"} {
			if !strings.Contains(string(out), want) {
				missing = want
			}
		}
		if missing == "" {
			return
		}
	}
	t.Errorf("the page has no %q", missing)
}

// testDevices gives containers GPUs that are none, and looks at what they say of them.
func (e *engine) testDevices(t *testing.T) {
	smi := filepath.Join(t.TempDir(), "nvidia-smi")
	script := func(version string) string {
		return "#!/bin/sh\n[ $# -gt 0 ] && echo 'Tesla T4, 470.1' || echo '| NVIDIA-SMI 470.1   CUDA Version: " + version + " |'\n"
	}
	gpu := []string{"-v", "/dev/null:/dev/nvidiactl"}
	for _, c := range []struct {
		options []string
		version string // that the driver says it is for
		says    string
	}{
		{nil, "", "cells use the CPU."},
		{[]string{"-e", "HALFTONE_IMAGE=gpu"}, "", "no GPU is visible in this container"},
		{gpu, "", "a GPU but no driver for it"},
		{gpu, "11.4", "update the driver to 525 or newer"},
		{gpu, "13.0", "cells use the GPU: Tesla T4, driver 470.1"},
	} {
		args := slices.Clone(c.options)
		if c.version != "" {
			must(t, os.WriteFile(smi, []byte(script(c.version)), 0o755))
			args = append(args, "-v", smi+":/usr/bin/nvidia-smi:ro")
		}
		out := e.docker(t, confinedRun(append(args, image, "sh", "-c", "entrypoint lab --version 2>&1")...)...)
		if !strings.Contains(out, c.says) || c.version == "13.0" && strings.Contains(out, "update") {
			t.Errorf("%q, driver for CUDA %q: without %q:\n%s", c.options, c.version, c.says, out)
		}
	}
}

// testCompose starts the default profile as a user does.
func (e *engine) testCompose(t *testing.T) {
	compose := []string{}
	for _, c := range [][]string{{e.client, "compose"}, {"docker-compose"}} {
		if exec.Command(c[0], append(c[1:], "version")...).Run() == nil {
			compose = c
			break
		}
	}
	if len(compose) == 0 {
		t.Skip("neither docker compose nor docker-compose is installed")
	}
	e.docker(t, "tag", image, "halftone:cpu")
	run := func(args ...string) string {
		t.Helper()
		all := append(append(slices.Clone(compose[1:]), "-f", "compose.yaml", "-p", "halftonetest"), args...)
		cmd := exec.Command(compose[0], all...)
		cmd.Env = append(e.env, "HALFTONE_PORT=18899", fmt.Sprintf("HALFTONE_USER=%d:%d", os.Getuid(), os.Getgid()))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", all, err, out)
		}
		return string(out)
	}
	if out := run("config"); strings.Contains(out, "0.0.0.0") {
		t.Errorf("bound to every address:\n%s", out)
	}
	began := time.Now()
	defer run("down", "-t", "5")
	run("up", "-d", "--no-build")
	ids := strings.Fields(e.docker(t, "ps", "-q", "--filter", "label=com.docker.compose.project=halftonetest"))
	if len(ids) != 1 {
		t.Fatalf("the default profile starts %d containers", len(ids))
	}
	e.healthy(t, ids[0], began)
	e.asksForToken(t, ids[0], "http://127.0.0.1:18899")
	// Two at one port.
	out, err := e.output(time.Minute, "run", "--rm", "-p", "127.0.0.1:18899:8888", image)
	if err == nil || !strings.Contains(out, "port is already allocated") {
		t.Errorf("a port that is taken: %v\n%s", err, out)
	}
}
