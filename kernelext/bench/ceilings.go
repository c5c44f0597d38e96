package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Ceilings are what the machine could do at most in this run, with the threads of a row: measured by loops of nothing but the instruction
// that products consist of, and by a copy of as many bytes as most rows read and write.
type Ceilings struct {
	FMA     float64 `json:"fma"`     // operations per ns, in float32; float64 has half of it
	BF16    float64 `json:"bf16"`    // of products of bfloat16
	F16     float64 `json:"f16"`     // of products of float16
	Copy    float64 `json:"copy"`    // bytes read and written per ns
	Read    float64 `json:"read"`    // bytes read per ns
	Rewrite float64 `json:"rewrite"` // bytes read and written per ns, in place
	Region  float64 `json:"region"`  // ns of a parallel loop over nothing
	Dot     string  `json:"dot"`     // what multiplies bfloat16: "strict" (as float32), "pairs" or "tiles"
}

// best joins two measurements.
func (c Ceilings) best(d Ceilings) Ceilings {
	return Ceilings{FMA: max(c.FMA, d.FMA), BF16: max(c.BF16, d.BF16), F16: max(c.F16, d.F16),
		Copy: max(c.Copy, d.Copy), Read: max(c.Read, d.Read), Rewrite: max(c.Rewrite, d.Rewrite), Region: min(c.Region, d.Region), Dot: d.Dot}
}

// ceilingsProgram lies in the package whose kernels and threads it uses.
const ceilingsProgram = "./amp/internal/cpu/ceilings"

// ceilings runs the program that measures them.
func ceilings(ctx context.Context, dir string, threads int) (Ceilings, error) {
	var c Ceilings
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "ceilings"))
	cmd.Env = append(os.Environ(), "HALFTONE_THREADS="+strconv.Itoa(threads))
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	if err != nil {
		return c, fmt.Errorf("measuring the machine's ceilings: %w", err)
	}
	return c, nil
}

// String is a line of the page.
func (c Ceilings) String() string {
	return fmt.Sprintf("float32 multiply-adds %.0f GFLOP/s, bfloat16 products %.0f, float16 products %.0f, in 16 MiB a copy %.1f GB/s (read and written), in place %.1f, reading %.1f, an empty parallel loop %s",
		c.FMA, c.BF16, c.F16, c.Copy, c.Rewrite, c.Read, showNS(c.Region))
}

// ownUnit is how many times the rate of float32 products of halves reach where they have instructions of their own; less is noise.
const ownUnit = 1.2

// ceiling is what bounds a row, and what it is called.
func (r CPURow) ceiling() (limit float64, name string) {
	wide := r.Env != "" // the other forms of products multiply in float32
	part := strings.Split(r.Name, "/")
	has := func(dt string) bool { return slices.Contains(part, dt) }
	switch {
	case r.Bytes > 0 && r.Moves == "read" && r.Ceilings.Read > 0:
		return r.Ceilings.Read, r.Moves
	case r.Bytes > 0 && r.Moves == "in place" && r.Ceilings.Rewrite > 0:
		return r.Ceilings.Rewrite, r.Moves
	case r.Bytes > 0:
		return r.Ceilings.Copy, "copy"
	case r.Flops == 0:
		return 0, ""
	case has("f64"):
		return r.Ceilings.FMA / 2, "FMA"
	case has("bf16") && !wide && r.Ceilings.BF16 > ownUnit*r.Ceilings.FMA:
		return r.Ceilings.BF16, r.Ceilings.Dot
	case has("f16") && !wide && r.Ceilings.F16 > ownUnit*r.Ceilings.FMA:
		return r.Ceilings.F16, r.Ceilings.Dot
	}
	return r.Ceilings.FMA, "FMA"
}

// share is how much of its ceiling a row reaches, 0 where that is unknown.
func (r CPURow) share() (part float64, name string) {
	limit, name := r.ceiling()
	if limit == 0 || r.Ours == 0 {
		return 0, name
	}
	return max(r.Flops, r.Bytes) / r.Ours / limit, name
}

// showShare is share in the table.
func (r CPURow) showShare() string {
	part, name := r.share()
	if part == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f %% %s", 100*part, name)
}
