package bench

import (
	"fmt"
	"slices"
	"strings"
)

// CPUCases are the lines of amp/RESULTS.md. The bars are of ours against the fastest peer; 0 is none.
func CPUCases() []CPUCase {
	var all []CPUCase
	add := func(bar, flops, bytes float64, format string, a ...any) {
		all = append(all, CPUCase{Name: fmt.Sprintf(format, a...), Bar: bar, Flops: flops, Bytes: bytes})
	}
	for _, dt := range []string{"f32", "bf16", "f16", "f64"} {
		bar := 1.0
		if dt == "f64" || dt == "f16" {
			bar = 0 // float16 is held to our float32
		}
		for _, n := range []int{256, 512, 1024, 2048} {
			if dt == "f64" && n != 1024 {
				continue
			}
			add(bar, 2*float64(n*n*n), 0, "gemm/%s/%d", dt, n)
		}
	}
	for _, env := range []string{"HALFTONE_DOT=strict", "HALFTONE_CPU=reproducible"} {
		for _, n := range []int{256, 512, 1024, 2048} {
			all = append(all, CPUCase{Name: fmt.Sprintf("gemm/bf16/%d", n), Flops: 2 * float64(n*n*n), Env: env})
		}
	}
	for _, s := range [][3]int{{512, 16, 8}, {512, 16, 16}, {1, 1024, 1024}, {1024, 1, 1024}, {8, 512, 512}, {1024, 1024, 8}, {64, 64, 64}, {1024, 768, 256}} {
		add(0, 2*float64(s[0]*s[1]*s[2]), 0, "gemm/f32/%d/%d/%d", s[0], s[1], s[2])
	}
	add(0, 2*float64(1024*1024*1024), 0, "gemm/f32/1024/nt")
	for _, c := range []string{"f32/f16", "f16/f32", "f32/bf16", "bf16/f32"} {
		add(0.9, 0, 6*float64(1<<24), "cast/%s/%d", c, 1<<24)
	}
	for _, dt := range []string{"f32", "bf16"} {
		for _, c := range [][2]int{{64, 32}, {128, 16}, {256, 8}, {512, 4}} {
			flops := 2 * 9 * float64(c[0]*c[0]*c[1]*c[1]) * 32
			add(1, flops, 0, "conv/%s/fwd/%d/%d/32", dt, c[0], c[1])
			add(1, 3*flops, 0, "conv/%s/step/%d/%d/32", dt, c[0], c[1])
		}
	}
	for _, dt := range []string{"f32", "bf16"} { // 256 channels of 16×16, 32 images
		const elements = 256 * 16 * 16 * 32
		for _, c := range []struct {
			kind  string
			flops float64
		}{{"pointwise", 2 * 256 * elements}, {"depthwise", 2 * 9 * elements}} {
			add(1, c.flops, 0, "%s/%s/fwd/256/16/32", c.kind, dt)
			add(1, 3*c.flops, 0, "%s/%s/step/256/16/32", c.kind, dt)
		}
	}
	for _, op := range []string{"softmax", "layer_norm", "gelu", "cross_entropy"} {
		forward, both := 2.0, 5.0 // x and y; and x or y, dy and dx
		if op == "cross_entropy" {
			forward, both = 1, 3
		}
		add(1, 0, forward*4*4096*1024, "%s/f32/fwd", op)
		add(1, 0, both*4*4096*1024, "%s/f32/step", op)
	}
	for _, c := range []string{"f32/fwd", "f32/step", "f32/step/64/32/32", "bf16/step/64/32/32"} { // statistics, then the result; dy and x twice, dx
		passes := 3.0
		if strings.Contains(c, "step") {
			passes = 8
		}
		size, n := 4.0, 4096.0*1024
		if strings.HasPrefix(c, "bf16") {
			size = 2
		}
		if strings.HasSuffix(c, "/32") {
			n = 64 * 32 * 32 * 32
		}
		add(0, 0, passes*size*n, "batch_norm/%s", c)
	}
	all = append(all, otherCases()...)
	all = append(all, opCases()...)
	for _, model := range []string{"mlp", "gpt", "resnet18"} {
		for _, dt := range []string{"f32", "bf16", "f16"} {
			bar := 1.0
			if model == "mlp" {
				bar = 3
			}
			if dt == "f16" {
				bar = 0
			}
			add(bar, modelFlops(model), 0, "%s/%s", model, dt)
		}
	}
	for _, model := range []string{"mlp", "gpt", "resnet18"} {
		all = append(all, CPUCase{Name: model + "/f32", Flops: modelFlops(model), Env: "HALFTONE_CPU=reproducible"})
	}
	return all
}

// Select keeps the cases whose names start with one of the prefixes, all of them without any.
func Select(cases []CPUCase, prefixes []string) []CPUCase {
	if len(prefixes) == 0 {
		return cases
	}
	return slices.DeleteFunc(cases, func(c CPUCase) bool {
		return !slices.ContainsFunc(prefixes, func(p string) bool { return len(c.Name) >= len(p) && c.Name[:len(p)] == p })
	})
}
