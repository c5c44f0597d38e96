//go:build long

package docker_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/share"
	"github.com/halftone-ml/halftone/widgets"
)

// image is what the tests build: target cpu without gopls.
const image = "halftone:test"

// confined are the options under which everything must work: what compose.yaml asks for, and no network.
var confined = []string{"run", "--rm", "--network", "none", "--read-only", "--tmpfs", "/tmp:exec,mode=1777", "--cap-drop", "ALL",
	"--security-opt", "no-new-privileges"}

func confinedRun(more ...string) []string { return append(slices.Clone(confined), more...) }

// TestImage builds the image, and everything else is a subtest: one image serves them all.
func TestImage(t *testing.T) {
	e := theEngine(t)
	e.baseImages(t)
	began := time.Now()
	if out, err := e.output(9*time.Minute, "build", "-f", "Dockerfile", "--target", "cpu", "--build-arg", "COMPLETION=false",
		"--build-arg", "COMMIT=0123456789ab", "-t", image, ".."); err != nil {
		t.Fatalf("%v\n%s", err, last([]byte(out)))
	}
	t.Logf("built in %.0f s", time.Since(began).Seconds())
	t.Run("configuration", e.testConfiguration)
	t.Run("notebooks without a network", e.testNotebooks)
	t.Run("numbers of the host", e.testHostNumbers)
	t.Run("any user", e.testAnyUser)
	t.Run("sentences", e.testSentences)
	t.Run("server", e.testServer)
	t.Run("share", e.testShare)
	t.Run("compose", e.testCompose)
}

func (e *engine) testConfiguration(t *testing.T) {
	var all []struct {
		Size   int64
		Config struct {
			User                        string
			Labels                      map[string]string
			Entrypoint, Cmd             []string
			StopSignal                  string
			Healthcheck                 *struct{ Test []string }
			ExposedPorts                map[string]any
			Volumes                     map[string]any
			Env                         []string
			OnBuild, Shell              []string
			AttachStdin, Tty, OpenStdin bool
		}
	}
	if err := json.Unmarshal([]byte(e.docker(t, "image", "inspect", image)), &all); err != nil {
		t.Fatal(err)
	}
	c := all[0].Config
	if all[0].Size > 2_500_000_000 {
		t.Errorf("%d bytes, more than 2.5 GB", all[0].Size)
	}
	t.Logf("%.2f GB", float64(all[0].Size)/1e9)
	if c.User != "1000:100" || c.Healthcheck == nil || len(c.Entrypoint) == 0 || c.Entrypoint[0] != "tini" || c.StopSignal != "SIGTERM" {
		t.Errorf("%+v", c)
	}
	for _, l := range []string{"title", "description", "source", "licenses", "version", "revision"} {
		if c.Labels["org.opencontainers.image."+l] == "" {
			t.Errorf("no label %s", l)
		}
	}
	for _, v := range c.Env {
		if strings.Contains(v, "TOKEN") || strings.Contains(v, "PASSWORD") {
			t.Errorf("the image carries %s", v)
		}
	}
	out := e.docker(t, confinedRun(image, "version")...)
	if !strings.Contains(out, "0123456789ab") {
		t.Errorf("the commit is not in %q", out)
	}
}

// testNotebooks compiles what the cells of every tutorial import, and executes the ones that are quick when they are shortened. The
// others run outside of containers in other tests.
func (e *engine) testNotebooks(t *testing.T) {
	found, err := filepath.Glob("../notebooks/*.ipynb")
	if err != nil || len(found) == 0 {
		t.Fatal("no tutorials", err)
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	writeCells(t, filepath.Join(dir, "imports.ipynb"), imports(t, found))
	args := confinedRun("-e", "HALFTONE_STEPS=4", "-v", dir+":/in:ro", image, "run", "/in/imports.ipynb", "01-first-amp-training.ipynb", "03-fp16-underflow.ipynb")
	if out := e.docker(t, args...); strings.Count(out, "  ran in ") != 3 {
		t.Errorf("not every notebook ran:\n%s", out)
	}
}

// imports makes a cell for each notebook that imports what its cells do.
func imports(t *testing.T, notebooks []string) []string {
	t.Helper()
	path := regexp.MustCompile(`(?m)^(?:import )?[\t ]*(?:[\w.]+ +)?"([\w./-]+)"\s*$`)
	var cells []string
	for _, file := range notebooks {
		var nb struct {
			Cells []struct {
				Type   string `json:"cell_type"`
				Source []string
			}
		}
		must(t, json.Unmarshal([]byte(read(t, file)), &nb))
		found := map[string]bool{}
		for _, c := range nb.Cells {
			if c.Type == "code" {
				for _, m := range path.FindAllStringSubmatch(strings.Join(c.Source, ""), -1) {
					found[m[1]] = true
				}
			}
		}
		if len(found) == 0 {
			t.Errorf("%s: imports nothing", file)
		}
		var cell strings.Builder
		cell.WriteString("import (\n")
		for _, name := range slices.Sorted(maps.Keys(found)) {
			fmt.Fprintf(&cell, "\t_ %q\n", name)
		}
		cell.WriteString(")\n%%\nprintln()")
		cells = append(cells, cell.String())
	}
	return cells
}

// writeCells writes a notebook of code cells.
func writeCells(t *testing.T, path string, cells []string) {
	t.Helper()
	var all []any
	for i, c := range cells {
		all = append(all, map[string]any{"id": fmt.Sprint("cell", i), "cell_type": "code", "metadata": map[string]any{}, "outputs": []any{}, "execution_count": nil, "source": c})
	}
	b, err := json.Marshal(map[string]any{"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{}, "cells": all})
	must(t, err)
	must(t, os.WriteFile(path, b, 0o644))
}

// testHostNumbers computes a tutorial in a container and outside, and compares to the last bit.
func (e *engine) testHostNumbers(t *testing.T) {
	const tutorial = "01-first-amp-training.ipynb"
	l, err := layout.Default()
	must(t, err)
	if _, err := l.Load(); err != nil {
		t.Skipf("the host has no installation to compare with (make test-all makes one): %v", err)
	}
	dir := t.TempDir()
	cmd := exec.Command(l.Halftone(), "run", "--output", filepath.Join(dir, "host.ipynb"), filepath.Join("../notebooks", tutorial))
	cmd.Env = append(os.Environ(), "HALFTONE_CPU=reproducible")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	must(t, os.Chmod(dir, 0o777))
	e.docker(t, confinedRun("-e", "HALFTONE_CPU=reproducible", "-v", dir+":/out", image, "run", "--output", "/out/image.ipynb", tutorial)...)
	host, err := widgets.Load(filepath.Join(dir, "host.ipynb"))
	must(t, err)
	inside, err := widgets.Load(filepath.Join(dir, "image.ipynb"))
	must(t, err)
	if len(host) == 0 || len(host) != len(inside) {
		t.Fatalf("%d figures on the host, %d in the container", len(host), len(inside))
	}
	for i := range host {
		found, err := share.Compare(host[i], inside[i], nil, 5)
		must(t, err)
		for _, d := range found {
			t.Errorf("%s: in the container %v", host[i].Title, d)
		}
	}
}

func (e *engine) testAnyUser(t *testing.T) {
	for _, args := range [][]string{
		append([]string{"run", "--rm", "--network", "none", "--user", "12345:12345", image}, "run", "01-first-amp-training.ipynb"),
		confinedRun("--user", "12345:100", image, "run", "01-first-amp-training.ipynb"),
	} {
		if out := e.docker(t, args...); !strings.Contains(out, "  ran in ") {
			t.Errorf("%q:\n%s", args, out)
		}
	}
	if out := e.docker(t, confinedRun("--user", "12345", image, "sh", "-c", "id -u; find / -xdev -writable -not -path '/proc/*' -not -path '/dev/*' -not -path '/tmp*' 2>/dev/null | head -5")...); strings.TrimSpace(out) != "12345" {
		t.Errorf("a user who is not root can write:\n%s", out)
	}
}

// testSentences gives containers what they cannot work with.
func (e *engine) testSentences(t *testing.T) {
	folder := t.TempDir()
	must(t, os.Chmod(folder, 0o755))
	for says, args := range map[string][]string{
		"mode=1777, with exec":       {"run", "--rm", "--read-only", "--tmpfs", "/tmp", image, "version"},
		"add --tmpfs /tmp:exec":      {"run", "--rm", "--read-only", image, "version"},
		"no such notebook":           confinedRun(image, "run", "none.ipynb"),
		"neither halftone.json nor":  confinedRun("-v", folder+":/home/jovyan/notebooks:ro", image, "verify"),
		"there is no command \"ru\"": confinedRun(image, "halftone", "ru"),
	} {
		out, err := e.output(time.Minute, args...)
		if err == nil || !strings.Contains(out, says) {
			t.Errorf("%q: %v, without %q:\n%s", args, err, says, out)
		}
	}
	out, _ := e.output(time.Minute, confinedRun("-v", folder+":/home/jovyan/notebooks:ro", image, "sh", "-c", "entrypoint lab --version 2>&1")...)
	if !strings.Contains(out, "notebooks cannot be saved") {
		t.Errorf("a folder that is read-only:\n%s", out)
	}
}

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
	for deadline := time.Now().Add(time.Minute); !strings.Contains(e.docker(t, "top", id), "gonb_"); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the cell does not start:\n" + e.docker(t, "top", id))
		}
	}
	began = time.Now()
	e.docker(t, "stop", id)
	if d := time.Since(began); d > 5*time.Second {
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
		if time.Since(began) > 30*time.Second || !strings.HasPrefix(status, "running") {
			log, _ := e.output(time.Minute, "logs", id)
			t.Fatalf("%s after %v\n%s", status, time.Since(began), log)
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("healthy in %.1f s", time.Since(began).Seconds())
}

func (e *engine) token(t *testing.T, id string) string {
	t.Helper()
	log := e.docker(t, "exec", id, "sh", "-c", "cat /tmp/jupyter/jpserver-*.json")
	m := regexp.MustCompile(`"token": "([0-9a-f]{32,})"`).FindStringSubmatch(log)
	if m == nil {
		t.Fatalf("no token in %s", log)
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
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--window-size=1400,1600",
		"--timeout=45000", "--virtual-time-budget=30000", "--dump-dom", page)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v", err)
	}
	for _, want := range []string{"jp-NotebookPanel", "01-first-amp-training.ipynb", "Go (AMP)"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// testShare packs a tutorial in a container, makes an image of the package, and lets that verify itself.
func (e *engine) testShare(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	e.docker(t, confinedRun("-v", dir+":/out", image, "share", "--output", "/out/shared", "01-first-amp-training.ipynb")...)
	e.docker(t, "build", "--build-arg", "HALFTONE_IMAGE="+image, "-t", "halftone-shared:test", filepath.Join(dir, "shared"))
	defer e.output(time.Minute, "rmi", "-f", "halftone-shared:test")
	out := e.docker(t, confinedRun("halftone-shared:test")...)
	if !strings.Contains(out, "bit for bit") || strings.Contains(out, "note:") || !strings.Contains(out, "figures as expected") {
		t.Errorf("verify prints\n%s", out)
	}
	// A package with another number in it must be found out.
	path := filepath.Join(dir, "shared", share.RecordName)
	rec := read(t, path)
	changed := regexp.MustCompile(`"final": [0-9.]+`).ReplaceAllString(rec, `"final": 0.125`)
	if changed == rec {
		t.Fatal("no final loss in the record")
	}
	must(t, os.WriteFile(path, []byte(changed), 0o644))
	if out, err := e.output(2*time.Minute, confinedRun("-v", filepath.Join(dir, "shared")+":/shared:ro", image, "verify", "/shared")...); err == nil || !strings.Contains(out, "expected 0.125") {
		t.Errorf("a changed record: %v\n%s", err, out)
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
