package layout

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestStateRoundTrip(t *testing.T) {
	l := Layout{t.TempDir()}
	if _, err := l.Load(); !errors.Is(err, ErrNotInstalled) {
		t.Fatalf("before the first install: %v", err)
	}
	want := State{Checkout: "/somewhere", Commit: "abc", Go: "/go", Python: "/py"}
	if err := l.Save(want); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Load(); err != nil || got != want {
		t.Fatalf("got %+v, %v", got, err)
	}
	if err := os.WriteFile(l.StateFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Load(); err == nil || !strings.Contains(err.Error(), "install again") {
		t.Fatalf("damaged state: %v", err)
	}
}

func TestHomeFromEnvironment(t *testing.T) {
	t.Setenv(HomeEnv, t.TempDir())
	l, err := Default()
	if err != nil || l.Home != os.Getenv(HomeEnv) {
		t.Fatalf("%+v, %v", l, err)
	}
}
