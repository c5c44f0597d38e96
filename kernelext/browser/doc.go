// Package browser tests what people see: it opens notebooks in a real JupyterLab 4 with a headless Chromium and looks at
// the figures, in light and dark, trusted and not.
//
//	go test ./...                                    checks; skipped, and says so, where there is no Chromium
//	go test ./... -screenshots DIR                   also saves what it looked at, to be looked at by people
//	go test ./... -run TestPicture -picture FILE     draws the picture of the README from the saved tutorial
//
// Chromium is $CHROME, or chromium, chromium-browser or google-chrome in PATH. JupyterLab and the kernel are those of the
// installation in $HALFTONE_HOME, which `make test` sets, or else of one in the checkout's folder .halftone.
package browser
