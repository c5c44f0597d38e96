//go:build long

package docker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// An engine is a running Docker engine.
type engine struct {
	client string   // a docker command that builds with BuildKit
	env    []string // of the client
	stop   func()
}

// started is the engine of all tests of this package, and why there is none.
var started = sync.OnceValues(startEngine)

func TestMain(m *testing.M) {
	code := m.Run()
	if e, err := started(); err == nil {
		e.stop()
	}
	os.Exit(code)
}

// theEngine returns a Docker engine: the one that runs, or one of Debian's that is installed and started for the tests.
func theEngine(t *testing.T) *engine {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a Docker engine")
	}
	e, err := started()
	if err != nil {
		t.Skipf("needs a Docker engine, and none can be had here: %v", err)
	}
	return e
}

func startEngine() (*engine, error) {
	e := &engine{env: append(os.Environ(), "DOCKER_BUILDKIT=1"), stop: func() {}}
	if client, err := buildingClient(); err == nil {
		e.client = client
		if _, err := e.output(time.Minute, "version"); err == nil {
			return e, nil
		}
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("none runs, and starting one needs root")
	}
	if _, err := exec.LookPath("dockerd"); err != nil {
		if err := install("docker.io", "docker-compose", "mmdebstrap", "iptables"); err != nil {
			return nil, err
		}
	}
	client, err := buildingClient()
	if err != nil {
		return nil, err
	}
	e.client = client
	return e, e.startDaemon()
}

// install installs packages of Debian's.
func install(packages ...string) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("none runs, and there is no apt-get to install one with")
	}
	for _, args := range [][]string{{"update", "-q"}, append([]string{"install", "-y", "-q", "--no-install-recommends"}, packages...)} {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		// Starting services while they are installed is for machines with an init.
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w: %s", args[0], err, last(out))
		}
	}
	return nil
}

// buildingClient finds a docker command with BuildKit: older ones have it built in, newer ones need the plugin buildx.
func buildingClient() (string, error) {
	found := fmt.Errorf("there is no docker command")
	first, _ := exec.LookPath("docker")
	for _, client := range []string{first, "/usr/bin/docker"} {
		out, err := exec.Command(client, "version", "--format", "{{.Client.Version}}").Output()
		if len(out) == 0 && err != nil {
			continue
		}
		major, _, _ := strings.Cut(string(out), ".")
		if n, err := strconv.Atoi(major); err == nil && n < 23 && n > 18 || exec.Command(client, "buildx", "version").Run() == nil {
			return client, nil
		}
		found = fmt.Errorf("%s has no BuildKit: install its plugin buildx", client)
	}
	return "", found
}

// startDaemon starts dockerd with folders of its own. Its images stay in the checkout's ignored folder and make the next run short.
func (e *engine) startDaemon() error {
	run, err := os.MkdirTemp("", "halftone-docker")
	if err != nil {
		return err
	}
	data, err := filepath.Abs("../.halftone/docker")
	if err != nil {
		return err
	}
	host := "unix://" + filepath.Join(run, "docker.sock")
	var log bytes.Buffer
	cmd := exec.Command("dockerd", "--data-root", data, "--exec-root", filepath.Join(run, "exec"), "--pidfile", filepath.Join(run, "pid"), "-H", host)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	e.env = append(e.env, "DOCKER_HOST="+host)
	e.stop = func() {
		_, _ = e.output(time.Minute, "image", "prune", "-f") // images of earlier runs, whose names this one took
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = os.RemoveAll(run)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(300 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			e.stop()
			return fmt.Errorf("dockerd ended: %w: %s", err, last(log.Bytes()))
		default:
		}
		driver, err := e.output(time.Minute, "info", "--format", "{{.Driver}}")
		if err == nil && strings.TrimSpace(driver) == "vfs" {
			e.stop()
			return errors.New("its storage here would be copies of whole images (vfs)")
		} else if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			e.stop()
			return fmt.Errorf("dockerd does not answer: %w", err)
		}
	}
}

// last is the end of a program's output.
func last(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-4):], "\n")
}

// output runs the client and returns what it prints; the error has what it prints about failing.
func (e *engine) output(limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.client, args...)
	cmd.Env, cmd.WaitDelay = e.env, 5*time.Second
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return out.String() + stderr.String(), fmt.Errorf("docker %s: %w: %s", args[0], err, last(append(out.Bytes(), stderr.Bytes()...)))
	}
	if args[0] == "logs" {
		out.Write(stderr.Bytes()) // what the container wrote there
	}
	return out.String(), nil
}

// docker is output that must succeed.
func (e *engine) docker(t *testing.T, args ...string) string {
	t.Helper()
	out, err := e.output(8*time.Minute, args...)
	if err != nil {
		t.Fatalf("docker %q: %v", args, err)
	}
	return out
}

// has tells whether the engine has an image.
func (e *engine) has(image string) bool {
	_, err := e.output(2*time.Minute, "image", "inspect", image)
	return err == nil
}

// baseImages gets the images that the Dockerfile builds on: from a registry, or made from Debian's packages and this machine's Go.
func (e *engine) baseImages(t *testing.T) {
	t.Helper()
	v := settings(t, "versions.env")
	for _, image := range []struct {
		name string
		make func(*testing.T, string)
	}{{v["DEBIAN_IMAGE"], e.bootstrapDebian}, {v["GO_IMAGE"], e.importGo}} {
		if e.has(image.name) {
			continue
		}
		if _, err := e.output(40*time.Second, "pull", "-q", image.name); err == nil {
			continue
		}
		t.Logf("no registry gives %s: it is made here", image.name)
		image.make(t, image.name)
	}
}

// importing makes an image of what a shell command writes as a tar file.
func (e *engine) importing(t *testing.T, name, command string, args ...string) {
	t.Helper()
	cmd := exec.Command("bash", append([]string{"-o", "pipefail", "-c", command + ` | "$DOCKER" import - "$IMAGE"`, "-"}, args...)...)
	cmd.Env = append(e.env, "DOCKER="+e.client, "IMAGE="+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s can be had from no registry, nor be made here: %v: %s", name, err, last(out))
	}
}

// bootstrapDebian makes the slim image of a Debian release, with the certificates that this machine trusts beyond Debian's.
func (e *engine) bootstrapDebian(t *testing.T, name string) {
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		if err := install("mmdebstrap"); err != nil {
			t.Skip(err)
		}
	}
	_, tag, _ := strings.Cut(name, ":")
	suite, _, _ := strings.Cut(tag, "-")
	own := "/usr/local/share/ca-certificates"
	copying := "true"
	if found, _ := filepath.Glob(own + "/*.crt"); len(found) > 0 {
		copying = `mkdir -p "$1` + own + `" && cp ` + own + `/*.crt "$1` + own + `"`
	}
	e.importing(t, name, `mmdebstrap --variant=minbase --quiet --customize-hook="$1" "$2" -`, copying, suite)
}

// importGo makes an image that has what the Dockerfile takes from Go's.
func (e *engine) importGo(t *testing.T, name string) {
	out, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		t.Skip(err)
	}
	words := strings.Fields(string(out))
	if want := settings(t, "versions.env")["GO_VERSION"]; words[1] != "go"+want {
		t.Logf("the Go in %s is %s, not %s", name, words[1], want)
	}
	e.importing(t, name, `tar -C "$1" --transform 's|^\.|usr/local/go|' -cf - .`, words[0])
}
