// Package labextension holds what Halftone serves to JupyterLab's pages: for now the chart library that a figure's script
// loads from the page's own server, never from the network.
//
// The installer copies [FS] to <Jupyter's data folder>/labextensions/[Name]. A folder there without a package.json is served
// as plain files and not loaded as an extension.
package labextension

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
)

// Name is the folder below labextensions.
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
