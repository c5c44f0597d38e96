//go:build long

package bench

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGoPeers: both of the Go peers answer, each in what it can do, and say which version they are.
func TestGoPeers(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	get := exec.Command("go", "mod", "download")
	get.Dir = filepath.Join(root, "kernelext", "tools", "gopeers")
	if out, err := get.CombinedOutput(); err != nil {
		t.Skipf("their modules are not to be had here: %v\n%s", err, out)
	}
	c := Compare{Go: "go", Checkout: root, Budget: 1}
	dir := t.TempDir()
	if why := c.buildGoPeers(t.Context(), dir); why != "" {
		t.Fatal(why)
	}
	for name, can := range map[string]map[string]bool{
		"gomlx": {"gemm/f32/64/64/64": true, "gemm/bf16/64": true, "gemm/f32/64/nt": true, "softmax/f32/fwd": true, "layer_norm/f32/fwd": true, "gelu/f32/fwd": true, "mlp/f32": true, "mlp/bf16": false, "conv/f32/fwd/64/32/32": false},
		"gonum": {"gemm/f32/64/64/64": true, "gemm/f64/64": true, "gemm/f32/64/nt": true, "gemm/bf16/64": false, "softmax/f32/fwd": false},
	} {
		for _, threads := range []int{1, 2} {
			p, version := c.beginPeer(t.Context(), dir, built{}, Peer{Name: name, Go: true}, threads)
			if p == nil {
				t.Fatalf("%s: %s", name, version)
			}
			defer p.stop()
			if version == "" || version == "unknown version" {
				t.Errorf("%s: version %q", name, version)
			}
			for k, has := range can {
				a, err := p.ask(k)
				if err != nil {
					t.Fatalf("%s: %s: %v", name, k, err)
				}
				if has != (a.Error == "") || has != (a.Median > 0) {
					t.Errorf("%s: %s: %+v", name, k, a)
				}
			}
		}
	}
}
