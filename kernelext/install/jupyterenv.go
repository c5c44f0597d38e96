package install

import "github.com/halftone-ml/halftone/kernelext/layout"

// JupyterEnv is the environment in which the installed interpreter finds our kernel.
func JupyterEnv(l layout.Layout, state layout.State) []string {
	return append(pythonEnv(state.Python), layout.HomeEnv+"="+l.Home)
}
