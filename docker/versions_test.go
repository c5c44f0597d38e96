// Package docker_test holds the images' description together: versions stand in versions.env and nowhere else, and the Dockerfile
// keeps rules whose breaking shows only in production.
package docker_test

import (
	"bufio"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the versions of versions.env into the Dockerfile")

// settings reads a file of NAME=value lines.
func settings(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found := map[string]string{}
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || value == "" || strings.ContainsAny(line, " \"'$`") {
			t.Fatalf("%s: %q: write NAME=value, without spaces or quotes: shells and Go read this file", path, line)
		}
		if _, twice := found[name]; twice {
			t.Errorf("%s: %s stands there twice", path, name)
		}
		found[name] = value
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// find returns what the pattern's group matches in a file.
func find(t *testing.T, path, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)` + pattern).FindStringSubmatch(read(t, path))
	if m == nil {
		t.Fatalf("%s has nothing like %s", path, pattern)
	}
	return m[1]
}

// argument is a line of the Dockerfile that gives an ARG a default.
var argument = regexp.MustCompile(`(?m)^ARG ([A-Z_]+)=(.*)$`)

func TestDockerfileHasTheVersions(t *testing.T) {
	versions := settings(t, "versions.env")
	used := map[string]bool{}
	want := argument.ReplaceAllStringFunc(read(t, "Dockerfile"), func(line string) string {
		m := argument.FindStringSubmatch(line)
		value, ok := versions[m[1]]
		if !ok {
			return line
		}
		used[m[1]] = true
		return "ARG " + m[1] + "=" + value
	})
	if *update {
		if err := os.WriteFile("Dockerfile", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, "Dockerfile") != want {
		t.Error("Dockerfile has other versions than versions.env: run go test ./docker -update")
	}
	for _, name := range []string{"GO_IMAGE", "DEBIAN_IMAGE"} {
		if !used[name] {
			t.Errorf("the Dockerfile has no ARG %s", name)
		}
	}
}

func TestVersionsAgree(t *testing.T) {
	v := settings(t, "versions.env")
	if lang := find(t, "../go.mod", `^go (\S+)$`); v["GO_VERSION"] != lang && !strings.HasPrefix(v["GO_VERSION"], lang+".") {
		t.Errorf("GO_VERSION is %s, go.mod asks for %s", v["GO_VERSION"], lang)
	}
	if !strings.HasPrefix(v["GO_IMAGE"], "golang:"+v["GO_VERSION"]+"-") {
		t.Errorf("GO_IMAGE %s is not of GO_VERSION %s", v["GO_IMAGE"], v["GO_VERSION"])
	}
	for _, file := range []string{"../go.mod", "../kernelext/tools/go.mod"} {
		if pinned := find(t, file, `janpfeifer/gonb v(\S+)`); pinned != v["GONB_VERSION"] {
			t.Errorf("GONB_VERSION is %s, %s has %s", v["GONB_VERSION"], file, pinned)
		}
	}
	if locked := find(t, "../kernelext/install/python/requirements.txt", `^jupyterlab==(\S+)`); locked != v["JUPYTERLAB_VERSION"] {
		t.Errorf("JUPYTERLAB_VERSION is %s, the hashed requirements have %s", v["JUPYTERLAB_VERSION"], locked)
	}
}

// TestBinderHasTheVersions: its scripts read versions.env, conda's file cannot.
func TestBinderHasTheVersions(t *testing.T) {
	v := settings(t, "versions.env")
	if got := find(t, "../.binder/environment.yml", `^  - jupyterlab=(\S+)$`); got != v["JUPYTERLAB_VERSION"] {
		t.Errorf(".binder/environment.yml has JupyterLab %s, versions.env %s", got, v["JUPYTERLAB_VERSION"])
	}
	for _, script := range []string{"../.binder/postBuild", "../.binder/start"} {
		if text := read(t, script); !strings.Contains(text, ". docker/versions.env\n") || !strings.Contains(text, "GOTOOLCHAIN=go$GO_VERSION") {
			t.Errorf("%s does not take its Go from versions.env", script)
		}
	}
}

// TestWheelsHaveTheVersions compares NVIDIA's libraries.
func TestWheelsHaveTheVersions(t *testing.T) {
	v := settings(t, "versions.env")
	for name, wheel := range map[string]string{"CUBLAS_VERSION": "nvidia-cublas-cu12", "NVRTC_VERSION": "nvidia-cuda-nvrtc-cu12", "CUDNN_VERSION": "nvidia-cudnn-cu12"} {
		if locked := find(t, "requirements-gpu.txt", `^`+wheel+`==(\S+)`); locked != v[name] {
			t.Errorf("%s is %s, requirements-gpu.txt has %s", name, v[name], locked)
		}
	}
}

// TestRequirementsAreHashed walks the requirements that images install.
func TestRequirementsAreHashed(t *testing.T) {
	for _, file := range []string{"../kernelext/install/python/requirements.txt", "requirements-gpu.txt"} {
		text := strings.ReplaceAll(read(t, file), "\\\n", " ")
		n := 0
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			n++
			if !strings.Contains(line, "==") || !strings.Contains(line, "--hash=sha256:") {
				t.Errorf("%s: not pinned with a hash: %.60s", file, line)
			}
		}
		if n == 0 {
			t.Errorf("%s is empty", file)
		}
	}
}
