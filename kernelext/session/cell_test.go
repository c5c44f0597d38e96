package session_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/testsignal"
	"github.com/halftone-ml/halftone/kernelext/session/store"
	"github.com/halftone-ml/halftone/kernelext/session/vault"
)

// A cell is a program of its own, as in a notebook: this test binary again, which runs the function of that name.
const cellEnv = "SESSION_TEST_CELL"

var cells = map[string]func(args []string){}

func TestMain(m *testing.M) {
	if name, ok := os.LookupEnv(cellEnv); ok {
		cells[name](os.Args[1:])
		return
	}
	testsignal.Restore()
	os.Exit(m.Run())
}

// A notebook is a session and the cells that are run in it.
type notebook struct {
	t     testing.TB
	path  string
	owner *store.Owner
	vault *vault.Vault
	env   []string
}

func newNotebook(t testing.TB) *notebook {
	t.Helper()
	o, err := store.NewOwner(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n := &notebook{t: t, path: o.Path(), owner: o, vault: vault.New(o.Path())}
	n.env = []string{store.PathEnv + "=" + n.path}
	dir, err := os.MkdirTemp("", "ht") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	env, stop, err := n.vault.Serve(dir)
	if err == nil {
		n.env = append(n.env, env)
	} else if runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if stop != nil {
			stop()
		}
		_ = o.Close()
		_ = os.RemoveAll(dir)
	})
	return n
}

// command returns a cell that has not begun.
func (n *notebook) command(name string, args ...any) *exec.Cmd {
	var text []string
	for _, a := range args {
		text = append(text, fmt.Sprint(a))
	}
	cmd := exec.Command(os.Args[0], text...)
	cmd.Env = append(append(os.Environ(), cellEnv+"="+name), n.env...)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// try runs a cell and returns what it printed.
func (n *notebook) try(name string, args ...any) (stdout, stderr string, err error) {
	cmd := n.command(name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// run is try for a cell that must not fail.
func (n *notebook) run(name string, args ...any) string {
	n.t.Helper()
	out, errs, err := n.try(name, args...)
	if err != nil {
		n.t.Fatalf("cell %s %v: %v\n%s%s", name, args, err, out, errs)
	}
	if strings.Contains(errs, "session: ") {
		n.t.Errorf("cell %s %v says %s", name, args, errs)
	}
	return out
}
