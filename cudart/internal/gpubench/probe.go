package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/cudart"
)

// probed is what probe says.
type probed struct {
	Device device
	Found  []string // paths of libraries
	Mode   int      // of computing
}

// probe prints the device as JSON. It is a process of its own, so that the run does not hold the GPU.
func probe() error {
	d, err := openDriver()
	if err != nil {
		return err
	}
	dev, err := d.Device(0)
	if err != nil {
		return err
	}
	p, err := d.Properties(dev)
	if err != nil {
		return err
	}
	v, err := d.Version()
	if err != nil {
		return err
	}
	out := device{Name: p.Name, Driver: fmt.Sprintf("for CUDA %d.%d", v/1000, v%1000/10), Capability: fmt.Sprintf("%d.%d", p.Major, p.Minor), Memory: p.Memory, Emulated: emulated}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if said, err := exec.CommandContext(ctx, "nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader").Output(); err == nil && !emulated {
		out.Driver = strings.TrimSpace(string(bytes.TrimSpace(said))) + " " + out.Driver
	}
	said := probed{Device: out}
	said.Mode, _ = d.Attribute(dev, computeMode) // what does not say has the usual one
	for _, l := range cudart.Discover() {
		if l.Path != "" {
			said.Found = append(said.Found, l.Path)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}
