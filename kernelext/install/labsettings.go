package install

import (
	"os"
	"path/filepath"
)

// labDefaults are defaults of JupyterLab's settings, below what the user has set: without them the first thing to see is a
// question whether to fetch news from the network, and of completions that take more than a second, as those of gopls do on a busy machine,
// nothing is shown.
const labDefaults = `{
  "@jupyterlab/completer-extension:manager": {"providerTimeout": 5000},
  "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}
}
`

// labConfig puts the defaults where JupyterLab reads them and returns the value of JUPYTER_CONFIG_PATH that says so. What is
// in that path already comes first.
func labConfig(home string) (string, error) {
	dir := filepath.Join(home, "jupyter")
	if _, err := writeIfChanged(filepath.Join(dir, "labconfig", "default_setting_overrides.json"), []byte(labDefaults)); err != nil {
		return "", err
	}
	if before := os.Getenv("JUPYTER_CONFIG_PATH"); before != "" {
		return before + string(filepath.ListSeparator) + dir, nil
	}
	return dir, nil
}
