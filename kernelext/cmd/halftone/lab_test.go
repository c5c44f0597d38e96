package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/kernelext/internal/testenv"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// A server is a running halftone lab.
type server struct {
	cmd   *exec.Cmd
	base  string // http://127.0.0.1:port
	token string
	out   *output
	ready time.Duration // from start to the printed address
}

// An output is what a command has printed so far, by several goroutines.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

var address = regexp.MustCompile(`(http://127\.0\.0\.1:\d+)/\S*token=(\S+)`)

// startLab starts JupyterLab as a user does, without a browser, and waits for its address.
func startLab(t *testing.T, l layout.Layout) *server {
	t.Helper()
	s := &server{cmd: exec.Command(l.Halftone(), "lab", "--no-browser", "--private", "--", "--ServerApp.port=0"), out: &output{}}
	s.cmd.Dir, s.cmd.Env = t.TempDir(), mark(t)
	s.cmd.Stderr = s.out
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	found := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			_, _ = s.out.Write([]byte(lines.Text() + "\n"))
			if m := address.FindStringSubmatch(lines.Text()); m != nil {
				s.base, s.token = m[1], m[2]
				found <- true
				break
			}
		}
		io.Copy(io.Discard, stdout)
		close(found)
	}()
	select {
	case ok := <-found:
		if !ok {
			t.Fatalf("no address:\n%s", s.out)
		}
	case <-time.After(3 * time.Minute):
		t.Fatalf("no address within 3 minutes:\n%s", s.out)
	}
	s.ready = time.Since(began)
	return s
}

// call asks Jupyter's REST interface.
func (s *server) call(t *testing.T, method, path, body string, answer any) int {
	t.Helper()
	req, err := http.NewRequest(method, s.base+path+"?token="+url.QueryEscape(s.token), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if answer != nil {
		if err := json.NewDecoder(res.Body).Decode(answer); err != nil {
			t.Fatal(err)
		}
	}
	return res.StatusCode
}

// startKernel starts our kernel and waits until GoNB runs behind it.
func (s *server) startKernel(t *testing.T, l layout.Layout) {
	t.Helper()
	if code := s.call(t, "POST", "/api/kernels", `{"name":"halftone"}`, nil); code != 201 {
		t.Fatalf("starting a kernel: HTTP %d", code)
	}
	waitFor(t, "GoNB to run", func() bool { return len(running(t, l.GoNB())) > 0 })
}

// markEnv is set for a command and inherited by all that it starts, so that its processes are told from those of other tests
// that use the same installation at the same time.
const markEnv = "HALFTONE_TEST_MARK"

// running lists the processes that carry the test's mark and whose command line holds part.
func running(t *testing.T, part string) []string {
	t.Helper()
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	if len(environs) == 0 {
		t.Skip("needs /proc to see which processes are left")
	}
	var found []string
	for _, file := range environs {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte(markEnv+"="+t.Name()+"\x00")) {
			continue // zombies have no environment
		}
		args, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		line := filepath.Base(filepath.Dir(file)) + " " + strings.TrimSpace(strings.ReplaceAll(string(args), "\x00", " "))
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

func mark(t *testing.T) []string { return append(os.Environ(), markEnv+"="+t.Name()) }

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 3 minutes for %s", what)
		}
	}
}

// nothingLeft checks that nothing that the test has started is running.
func nothingLeft(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		left := running(t, "")
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still running:\n%s", strings.Join(left, "\n"))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func TestLabServesTheKernelAndStopsWithoutATrace(t *testing.T) {
	l, _ := testenv.Installed(t)
	for name, stop := range map[string]os.Signal{"Ctrl-C": os.Interrupt, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			s := startLab(t, l)
			t.Logf("ready after %v", s.ready)
			var specs struct {
				Default     string
				Kernelspecs map[string]struct {
					Spec struct {
						DisplayName string `json:"display_name"`
					}
					Resources map[string]string
				}
			}
			s.call(t, "GET", "/api/kernelspecs", "", &specs)
			if specs.Default != "halftone" || specs.Kernelspecs["halftone"].Spec.DisplayName != "Go (AMP)" || len(specs.Kernelspecs["halftone"].Resources) < 3 {
				t.Errorf("kernelspecs: %+v", specs)
			}
			var root struct{ Content []struct{ Name string } }
			s.call(t, "GET", "/api/contents/", "", &root)
			if code := s.call(t, "GET", "/lab/extensions/@halftone/figures/static/echarts.min.js", "", nil); code != 200 {
				t.Errorf("the chart library is not served: HTTP %d", code)
			}
			bare, err := http.Get(s.base + "/api/kernels")
			if err != nil {
				t.Fatal(err)
			}
			bare.Body.Close()
			if bare.StatusCode != 403 {
				t.Errorf("without the token: HTTP %d", bare.StatusCode)
			}
			s.startKernel(t, l)

			began := time.Now()
			if err := s.cmd.Process.Signal(stop); err != nil {
				t.Fatal(err)
			}
			if err := s.cmd.Wait(); err != nil {
				t.Errorf("ended with %v", err)
			}
			if d := time.Since(began); stretch.Over(d, 15*time.Second) {
				t.Errorf("stopping took %v", d)
			}
			nothingLeft(t)
		})
	}
}

func TestLabThatIsKilledLeavesNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only Linux ends children with a killed parent")
	}
	l, _ := testenv.Installed(t)
	s := startLab(t, l)
	s.startKernel(t, l)
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait()
	nothingLeft(t)
}

func TestLabSaysWhyItDidNotStart(t *testing.T) {
	l, _ := testenv.Installed(t)
	r := halftone(t, l, "lab", "--no-browser", "--private", "--", "--ServerApp.port=nonsense")
	if r.code != 1 || !strings.Contains(r.stderr, "it did not start") || !strings.Contains(r.stderr, "nonsense") || !strings.Contains(r.stderr, "lab.log") {
		t.Errorf("exit code %d\n%s\n%s", r.code, r.stdout, r.stderr)
	}
	nothingLeft(t)
}

func TestInterruptedRunLeavesNothing(t *testing.T) {
	l, _ := testenv.Installed(t)
	path := writeNotebook(t, cell{code: "%%\nos.WriteFile(\"started\", nil, 0o600)\nfor { time.Sleep(time.Second) }"})
	cmd := exec.Command(l.Halftone(), "run", path)
	cmd.Env = mark(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	waitFor(t, "the cell to run", func() bool {
		_, err := os.Stat(filepath.Join(filepath.Dir(path), "started"))
		return err == nil
	})
	cmd.Process.Signal(os.Interrupt)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	nothingLeft(t)
}
