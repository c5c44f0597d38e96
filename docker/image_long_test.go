//go:build long

package docker_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	installer "github.com/halftone-ml/halftone/kernelext/install"
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
	if out, err := e.output(15*time.Minute, "build", "-f", "Dockerfile", "--target", "cpu", "--build-arg", "COMPLETION=false",
		"--build-arg", "COMMIT=0123456789ab", "-t", image, ".."); err != nil {
		t.Fatalf("%v\n%s", err, last([]byte(out)))
	}
	t.Logf("built in %.0f s", time.Since(began).Seconds())
	t.Run("configuration", e.testConfiguration)
	t.Run("notebooks without a network", e.testNotebooks)
	t.Run("numbers of the host", e.testHostNumbers)
	t.Run("any user", e.testAnyUser)
	t.Run("sentences", e.testSentences)
	t.Run("devices", e.testDevices)
	t.Run("server", e.testServer)
	t.Run("share", e.testShare)
	t.Run("grid", e.testGrid)
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
	state, err := l.Load()
	if err != nil {
		t.Skipf("the host has no installation to compare with (make test-all makes one): %v", err)
	}
	source, err := installer.Fingerprint("..")
	must(t, err)
	if state.Source != source {
		t.Skipf("the host's installation in %s is of other sources (make lab renews it)", l.Home)
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
	folder, full := t.TempDir(), t.TempDir()
	must(t, os.Chmod(folder, 0o755))
	must(t, os.Chmod(full, 0o755))
	writeCells(t, filepath.Join(full, "one.ipynb"), []string{"%%"})
	for says, args := range map[string][]string{
		"mode=1777, with exec":       {"run", "--rm", "--read-only", "--tmpfs", "/tmp", image, "version"},
		"add --tmpfs /tmp:exec":      {"run", "--rm", "--read-only", image, "version"},
		"no such notebook":           confinedRun(image, "run", "none.ipynb"),
		"neither halftone.json nor":  confinedRun("-v", folder+":/home/jovyan/notebooks:ro", image, "verify"),
		"can be made with --output":  confinedRun("-v", full+":/home/jovyan/notebooks:ro", image, "share", "one.ipynb"),
		"there is no command \"ru\"": confinedRun(image, "halftone", "ru"),
	} {
		out, err := e.output(4*time.Minute, args...)
		if err == nil || !strings.Contains(out, says) {
			t.Errorf("%q: %v, without %q:\n%s", args, err, says, out)
		}
	}
	out, _ := e.output(4*time.Minute, confinedRun("-v", folder+":/home/jovyan/notebooks:ro", image, "sh", "-c", "entrypoint lab --version 2>&1")...)
	if !strings.Contains(out, "notebooks cannot be saved") {
		t.Errorf("a folder that is read-only:\n%s", out)
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
	if out, err := e.output(6*time.Minute, confinedRun("-v", filepath.Join(dir, "shared")+":/shared:ro", image, "verify", "/shared")...); err == nil || !strings.Contains(out, "expected 0.125") {
		t.Errorf("a changed record: %v\n%s", err, out)
	}
}

// testGrid runs two points of the grid as a cluster does, and collects them.
func (e *engine) testGrid(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	must(t, os.WriteFile(filepath.Join(dir, "grid.txt"), []byte("a DTYPE=float32 LR=0.1\nb DTYPE=float16 LR=0.1\n"), 0o644))
	const cluster = "/opt/halftone/src/docker/cluster/"
	common := []string{"-v", dir + ":/grid", "-e", "OUT=/grid/out", "-e", "GRID=/grid/grid.txt"}
	e.docker(t, confinedRun(append(common, "-e", "JOB_COMPLETION_INDEX=0", image, cluster+"point.sh")...)...)
	e.docker(t, confinedRun(append(common, "-e", "SLURM_ARRAY_TASK_ID=1", "-e", "CLUSTER="+cluster, image, cluster+"slurm.sh")...)...)
	out := e.docker(t, confinedRun(append(common, image, cluster+"collect.sh")...)...)
	if !strings.Contains(out, "b ends within") {
		t.Errorf("collected:\n%s", out)
	}
	if page := read(t, filepath.Join(dir, "out", "grid.html")); !strings.Contains(page, "<img") && !strings.Contains(page, "<svg") {
		t.Errorf("the page has no picture: %.300s", page)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
