package amp

import (
	"errors"
	"strings"
	"testing"
)

// cpuNames gives the operator names under which the CPU lists hold a row of another name.
var cpuNames = map[string]string{
	"cross_entropy": "cross_entropy_loss", "grid_sample": "grid_sampler", "lstm": "mkldnn_rnn_layer",
}

// TestEveryOpCPUList holds each row's CPUList to the reference's CPU lists.
func TestEveryOpCPUList(t *testing.T) {
	var v struct {
		CPU struct{ Lower, FP32, Promote, Banned []string }
	}
	readVectors(t, "op_policy.json", &v)
	lists := map[string]Class{}
	for class, names := range map[Class][]string{Lower: v.CPU.Lower, FP32: v.CPU.FP32, Promote: v.CPU.Promote, Banned: v.CPU.Banned} {
		for _, n := range names {
			lists[n] = class
		}
	}
	listed := 0
	for o := range Ops() {
		name := o.Name
		if n, ok := cpuNames[name]; ok {
			name = n
		}
		if want := lists[name]; o.CPUList != want {
			t.Errorf("%s is %v on the CPU lists, the reference says %v", o.Name, o.CPUList, want)
		}
		if o.CPUList != Unlisted {
			listed++
		}
	}
	if listed < 17 {
		t.Errorf("only %d listed rows", listed)
	}
}

// TestEveryOpDecisionOnCPULists runs each row under autocast by the CPU lists. Rows without a class of their own follow their
// inputs, composites that PyTorch decomposes follow their parts.
func TestEveryOpDecisionOnCPULists(t *testing.T) {
	for o := range Ops() {
		if len(opCases[o.Name]) == 0 || o.Name == "cast" || o.Parts != Together && o.CPUList == Unlisted {
			continue
		}
		c := opCases[o.Name][0]
		s := NewScope()
		for _, in := range []DType{Float32, BFloat16, Float64} {
			_, want := expected(o.CPUList, in, BFloat16)
			if y := c.call(s.Autocast(BFloat16, UseLists(CPULists)), c.draws(s, in, 4)); y.dt != resultOf(o, want) {
				t.Errorf("%s of %v gives %v, want %v", o.Name, in, y.dt, want)
			}
		}
		s.Close()
	}
}

// TestCompositesDecide looks at the casts of composites: as a whole where PyTorch has one kernel or the lists name them, part by
// part where it decomposes them.
func TestCompositesDecide(t *testing.T) {
	vector, matrix := From([]float32{1, 2}), From([]float32{1, 2, 3, 4}, 2, 2)
	logits := FromFloat64s(BFloat16, []float64{1, 2, 3, 4}, 2, 2)
	target := From([]int64{0, 1})
	for _, c := range []struct {
		name  string
		opts  []AutocastOption
		call  func(s *Scope) *Tensor
		out   DType
		casts int
	}{
		{"mv lowers on CUDA", nil, func(s *Scope) *Tensor { return MV(s, matrix, vector) }, BFloat16, 2},
		{"mv is not on the CPU lists", []AutocastOption{UseLists(CPULists)}, func(s *Scope) *Tensor { return MV(s, matrix, vector) }, Float32, 0},
		{"forced", []AutocastOption{UseLists(CPULists), Force("mv", Lower)}, func(s *Scope) *Tensor { return MV(s, matrix, vector) }, BFloat16, 2},
		{"chain_matmul decomposes into mm on a CPU", []AutocastOption{UseLists(CPULists)}, func(s *Scope) *Tensor { return ChainMatMul(s, matrix, matrix) }, BFloat16, 2},
		{"cross_entropy casts nothing on CUDA", nil, func(s *Scope) *Tensor { return CrossEntropy(s, logits, target) }, Float32, 0},
		{"cross_entropy is one op on the CPU lists", []AutocastOption{UseLists(CPULists)}, func(s *Scope) *Tensor { return CrossEntropy(s, logits, target) }, Float32, 1},
		{"softmax stays low on the CPU lists", []AutocastOption{UseLists(CPULists)}, func(s *Scope) *Tensor { return Softmax(s, logits, -1) }, BFloat16, 0},
		{"stack promotes", []AutocastOption{UseLists(CPULists)}, func(s *Scope) *Tensor { return Stack(s, 0, logits, matrix) }, Float32, 1},
		{"BCE is allowed on a CPU", []AutocastOption{UseLists(CPULists)}, func(s *Scope) *Tensor { return BCE(s, Sigmoid(s, logits), From([]float32{0, 1, 1, 0.5}, 2, 2)) }, Float32, 1},
	} {
		s := NewScope(Record(Decisions))
		y := c.call(s.Autocast(BFloat16, c.opts...))
		if made, _ := casts(s); y.dt != c.out || made != c.casts {
			t.Errorf("%s: %v with %d casts, want %v with %d", c.name, y.dt, made, c.out, c.casts)
		}
		for _, e := range s.Trace().Events {
			if e.Rule == "" || strings.Contains(e.Rule, "%") {
				t.Errorf("%s: %s has the rule %q", c.name, e.Op, e.Rule)
			}
		}
		s.Close()
	}
	if err := Maybe(func() { UseLists(9) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}
