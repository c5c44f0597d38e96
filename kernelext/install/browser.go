package install

import (
	"os/exec"
	"runtime"
	"syscall"
)

// hasDisplay tells whether a browser could be seen.
func hasDisplay(goos string, getenv func(string) string) bool {
	return goos == "darwin" || getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "" || getenv("WSL_DISTRO_NAME") != ""
}

// openBrowser shows an address in the user's browser, where one of the usual commands for that is there. We do it and not
// JupyterLab: whatever JupyterLab has started is stopped with it, and the user's browser is not to be.
func openBrowser(address string) {
	for _, name := range []string{"open", "wslview", "xdg-open"} {
		path, err := exec.LookPath(name)
		if err != nil || name == "open" && runtime.GOOS != "darwin" {
			continue // elsewhere, open is another program
		}
		cmd := exec.Command(path, address)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is for us, not for the browser
		if cmd.Start() == nil {
			go cmd.Wait()
			return
		}
	}
}
