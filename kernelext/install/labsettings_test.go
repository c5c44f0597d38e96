package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// The defaults are JSON as JupyterLab reads it, and give gopls the time it takes.
func TestLabDefaults(t *testing.T) {
	t.Setenv("JUPYTER_CONFIG_PATH", "")
	dir, err := labConfig(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "labconfig", "default_setting_overrides.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	if got := all["@jupyterlab/completer-extension:manager"]["providerTimeout"]; got != 5000.0 {
		t.Errorf("completions are dropped after %v ms", got)
	}
}
