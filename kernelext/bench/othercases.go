package bench

import "fmt"

// otherCases are the works that have no bar against peers, and the cost of the framework, which has one in nanoseconds.
func otherCases() []CPUCase {
	const mb = 1 << 20
	var all []CPUCase
	add := func(flops, bytes float64, format string, a ...any) {
		all = append(all, CPUCase{Name: fmt.Sprintf(format, a...), Flops: flops, Bytes: bytes})
	}
	moves := func(how string) { all[len(all)-1].Moves = how }
	for _, dt := range []string{"f32", "bf16"} { // 2 batches, 8 heads, 1024 positions, causal, 64 features
		const half = 2 * 2 * 2 * 8 * 1024 * 1024 * 64 / 2
		add(half, 0, "attention/%s/fwd", dt)
		add(3.5*half, 0, "attention/%s/step", dt) // backward computes the scores again
	}
	for _, op := range []string{"max_pool", "avg_pool"} { // 32 images of 64 channels, 32×32; windows of 2×2
		add(0, 1.25*8*mb, "%s/f32/fwd", op)
		add(0, 2.5*8*mb, "%s/f32/step", op)
	}
	for _, op := range []string{"sum", "sum_rows", "sum_columns", "argmax"} { // of 4096×1024
		add(0, 16*mb, "%s/f32/fwd", op)
		moves("read")
	}
	add(0, 16*mb, "randn/f32/fwd")
	add(0, 2*16*mb, "dropout/f32/fwd")
	add(0, 4*16*mb, "dropout/f32/step")
	add(0, 2*4*mb, "embedding/f32/fwd")          // 4096 indices into 8192×256
	add(0, (2*4+8+2*4)*mb, "embedding/f32/step") // and a gradient of the whole table
	add(0, 2*16*mb, "transpose/f32/fwd")         // 2048×2048, copied
	add(0, 2*16*mb, "cat/f32/fwd")               // two of 4096×512 side by side
	add(0, 3*16*mb, "sgd/f32/fwd")               // a parameter of 4 M numbers: its gradient, and itself in place
	moves("in place")
	add(0, 7*16*mb, "adamw/f32/fwd") // and two averages
	moves("in place")
	add(0, 2*16*mb, "unscale/f32/fwd") // its gradient in place, and whether all of it is finite
	moves("in place")
	for _, op := range []struct {
		name string
		most float64
	}{{"off", 0}, {"tape", 300}, {"decisions", 600}} { // relu of one number, per op
		all = append(all, CPUCase{Name: "op/" + op.name, Most: op.most})
	}
	return all
}
