package kernel

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
)

// A connection is the content of a Jupyter connection file.
type connection struct {
	ShellPort       int    `json:"shell_port"`
	ControlPort     int    `json:"control_port"`
	StdinPort       int    `json:"stdin_port"`
	IOPubPort       int    `json:"iopub_port"`
	HBPort          int    `json:"hb_port"`
	IP              string `json:"ip"`
	Key             string `json:"key"`
	Transport       string `json:"transport"`
	SignatureScheme string `json:"signature_scheme"`
	KernelName      string `json:"kernel_name,omitempty"`
}

func readConnection(file string) (connection, error) {
	var c connection
	b, err := os.ReadFile(file)
	if err != nil {
		return c, fmt.Errorf("kernel: connection file: %w; Jupyter passes its path as {connection_file}", err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("kernel: connection file %s is not JSON: %w", file, err)
	}
	if c.Transport == "" {
		c.Transport = "tcp"
	}
	if c.Transport != "tcp" && c.Transport != "ipc" {
		return c, fmt.Errorf("kernel: connection file %s: transport %q is not supported: use tcp or ipc", file, c.Transport)
	}
	if c.Key != "" && c.SignatureScheme != "" && c.SignatureScheme != "hmac-sha256" {
		return c, fmt.Errorf("kernel: connection file %s: signature scheme %q is not supported: use hmac-sha256", file, c.SignatureScheme)
	}
	for _, port := range []int{c.ShellPort, c.ControlPort, c.StdinPort, c.IOPubPort, c.HBPort} {
		if port <= 0 {
			return c, fmt.Errorf("kernel: connection file %s names no port for one of shell, control, stdin, iopub, hb", file)
		}
	}
	if c.IP == "" {
		return c, fmt.Errorf("kernel: connection file %s names no ip to listen on", file)
	}
	return c, nil
}

// address is where one channel listens, on the exact interface named: never on all of them unless Jupyter asked for it.
func (c connection) address(port int) (network, address string) {
	if c.Transport == "ipc" {
		return "unix", fmt.Sprintf("%s-%d", c.IP, port)
	}
	host := c.IP
	if host == "*" {
		host = "" // how ZeroMQ writes all interfaces
	}
	return "tcp", net.JoinHostPort(host, strconv.Itoa(port))
}

// endpoint is the same in ZeroMQ's notation.
func (c connection) endpoint(port int) string {
	network, address := c.address(port)
	if network == "unix" {
		network = "ipc"
	}
	return network + "://" + address
}

// forChild writes the connection file of a GoNB that listens on sockets in dir, and returns it with its path.
//
// Unix sockets in a private folder rather than loopback ports: no other user can connect, and no port can be taken by
// another program between choosing and binding it. The file keeps its base name because GoNB reads the kernel's id from it.
func (c connection) forChild(dir, base string) (connection, string, error) {
	child := c
	child.Transport, child.IP = "ipc", filepath.Join(dir, "s")
	child.ShellPort, child.ControlPort, child.StdinPort, child.IOPubPort, child.HBPort = 1, 2, 3, 4, 5
	if longest := fmt.Sprintf("%s-%d", child.IP, child.HBPort); len(longest) > maxSocketPath {
		return child, "", fmt.Errorf("kernel: %s is too long for a socket (%d bytes, the system allows %d): set HALFTONE_HOME to a shorter folder", longest, len(longest), maxSocketPath)
	}
	b, err := json.Marshal(child)
	if err != nil {
		return child, "", err
	}
	file := filepath.Join(dir, base)
	return child, file, os.WriteFile(file, b, 0o600)
}

// maxSocketPath is what the smallest supported system (macOS: 104 with the final zero) takes.
const maxSocketPath = 103

// sockets lists the files that a child listening on c makes.
func (c connection) sockets() []string {
	var files []string
	for _, port := range []int{c.ShellPort, c.ControlPort, c.StdinPort, c.IOPubPort, c.HBPort} {
		files = append(files, fmt.Sprintf("%s-%d", c.IP, port))
	}
	return files
}
