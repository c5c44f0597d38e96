// Package labextension holds what Halftone adds to JupyterLab 4 and Notebook 7, ready built: an extension that draws figures, and the
// chart library that a figure's own script loads in pages without it. README.md says how it is built; installing needs no Node.
//
// The installer copies [FS] to <Jupyter's data folder>/labextensions/[Name], where JupyterLab finds it by its package.json.
package labextension

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

// Name is the folder below labextensions, and the extension's name.
const Name = "@halftone/figures"

// Script is the chart library's path below the folder, and so below <page's labextensions URL>/Name as well.
const Script = "static/echarts.min.js"

//go:embed dist
var dist embed.FS

// FS returns the files to install.
func FS() fs.FS {
	sub, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // "dist" is a valid path
	}
	return sub
}

// A Vendored says what a vendored file was built from.
type Vendored struct {
	Name    string `json:"name"`    // package, e.g. "echarts"
	Version string `json:"version"` // its exact version
	License string `json:"license"` // SPDX identifier
	File    string `json:"file"`    // below static
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// ECharts returns the record of the vendored chart library.
func ECharts() (Vendored, error) {
	var v Vendored
	b, err := fs.ReadFile(FS(), "static/echarts.json")
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("labextension: static/echarts.json: %w", err)
	}
	return v, nil
}

// Entry returns the extension's own script, a path below the folder, as its package.json names it for JupyterLab.
func Entry() (string, error) {
	var p struct {
		JupyterLab struct {
			Build struct{ Load string } `json:"_build"`
		}
	}
	b, err := fs.ReadFile(FS(), "package.json")
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return "", fmt.Errorf("labextension: package.json: %w", err)
	}
	return p.JupyterLab.Build.Load, nil
}
