package amp

import (
	"errors"
	"strings"
	"testing"
)

// policy reads the reference's CUDA lists.
func policy(t *testing.T) map[string]Class {
	t.Helper()
	var v struct {
		CUDA struct {
			Lower, FP32, Promote, Banned []string
			SetOpt                       []string                                `json:"fp32_set_opt_dtype"`
			Append                       []string                                `json:"fp32_append_dtype"`
			Public                       struct{ Lower, FP32, Promote []string } `json:"public_names"`
			Special                      map[string]string
		}
	}
	readVectors(t, "op_policy.json", &v)
	out := map[string]Class{}
	put := func(names []string, c Class) {
		for _, n := range names {
			if _, ok := out[n]; !ok { // operator lists come first and win over the coarser public ones
				out[n] = c
			}
		}
	}
	put(v.CUDA.Lower, Lower)
	put(v.CUDA.FP32, FP32)
	put(v.CUDA.SetOpt, FP32Output)
	put(v.CUDA.Append, FP32Append)
	put(v.CUDA.Promote, Promote)
	put(v.CUDA.Banned, Banned)
	if v.CUDA.Special["_cudnn_rnn"] != "" { // the layers' own wrapper, which lowers all they are given
		put([]string{"rnn_tanh", "rnn_relu", "gru", "lstm"}, Lower)
	}
	put(v.CUDA.Public.Lower, Lower)
	put(v.CUDA.Public.FP32, FP32)
	put(v.CUDA.Public.Promote, Promote)
	if len(out) < 100 {
		t.Fatalf("only %d names in the policy", len(out))
	}
	return out
}

// TestEveryOpClass holds each row to the reference's list: by its own name, or by that of the overload with a number.
func TestEveryOpClass(t *testing.T) {
	lists := policy(t)
	listed := 0
	for o := range Ops() {
		want := lists[strings.TrimSuffix(o.Name, "_scalar")] // Unlisted when absent
		if o.Class != want {
			t.Errorf("%s is %v, the reference says %v", o.Name, o.Class, want)
		}
		if want != Unlisted {
			listed++
		}
	}
	if listed < 10 {
		t.Errorf("only %d listed rows", listed)
	}
}

// expected is the policy written again from the specification, for rows whose inputs are all of one dtype: what dtype the
// kernel gets, and what it gives.
func expected(class Class, in, lower DType) (run, out DType) {
	touched := in != Float64
	switch {
	case class == Lower && touched:
		return lower, lower
	case class == FP32 && touched:
		return Float32, Float32
	case (class == FP32Output || class == FP32Append) && touched:
		return in, Float32
	case class == Promote && touched:
		if in == Float32 || lower == Float32 {
			return Float32, Float32
		}
		return lower, lower
	}
	return in, in
}

// TestEveryOpDecision runs each row under autocast for each input dtype, and compares the dtypes of the result and the recorded
// kernel with the policy, and Explain with both.
func TestEveryOpDecision(t *testing.T) {
	for _, lower := range []DType{Float16, BFloat16, Float32} {
		for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
			t.Run(lower.String()+"/"+dt.String(), func(t *testing.T) {
				for o := range Ops() {
					if len(opCases[o.Name]) == 0 || o.Name == "cast" {
						continue // in-place rows are below; a cast is what it was asked to be
					}
					if o.Class == Banned {
						continue // TestBanned
					}
					if o.Class == Unlisted && o.Parts != Together {
						continue // its parts decide
					}
					if o.Class == Promote && dt.IsHalf() && lower.IsHalf() && dt != lower {
						continue // refused
					}
					c := opCases[o.Name][0]
					s := NewScope(Record(Decisions))
					auto := s.Autocast(lower)
					out := c.call(auto, c.draws(s, dt, 4))
					name, class := o.Name, o.Class
					if len(o.Composite) > 0 { // the last part decides
						name = o.Composite[len(o.Composite)-1]
					}
					run, want := expected(class, dt, lower)
					want = resultOf(o, want)
					if out.dt != want {
						t.Errorf("%s gives %v, want %v", o.Name, out.dt, want)
					}
					var found *Event
					tr := s.Trace()
					for i := range tr.Events {
						if e := &tr.Events[i]; e.Op == name && e.Cast == nil {
							found = e
							break
						}
					}
					if found == nil {
						t.Fatalf("%s left no event", name)
					}
					if len(o.Composite) == 0 {
						compute := run
						if (class == FP32Output || class == FP32Append) && dt != Float64 {
							compute = Float32 // accumulates and writes float32
						}
						compute = max(compute, c.compute)
						if found.Compute != compute || found.Out.DType != want {
							t.Errorf("%s recorded as %v → %v, want %v → %v", o.Name, found.Compute, found.Out.DType, compute, want)
						}
						inputs := make([]DType, len(c.inputs))
						for i := range inputs {
							inputs[i] = dt
						}
						if e := Explain(auto, o.Name, inputs...); e.Output != want || e.Run[0] != run || e.Rule != found.Rule {
							t.Errorf("Explain: %v (run %v), the trace says %q", e, e.Run, found.Rule)
						}
					}
					if found.Rule == "" || strings.Contains(found.Rule, "%") {
						t.Errorf("%s: rule %q", o.Name, found.Rule)
					}
					s.Close()
				}
			})
		}
	}
}

// TestPromote walks the rows of the promote list over mixed inputs: the widest wins, float64 is left alone, and a half dtype that
// is not the scope's is refused.
func TestPromote(t *testing.T) {
	n := 0
	for o := range Ops() {
		if o.Class != Promote {
			continue
		}
		n++
		c := opCases[o.Name][0]
		for _, k := range []struct {
			first, rest, want DType
		}{
			{Float16, Float16, Float16}, {Float16, Float32, Float32}, {Float32, Float16, Float32}, {Float32, Float32, Float32},
			{BFloat16, Float16, NoDType}, {Float32, BFloat16, Float32},
		} {
			s := NewScope()
			in := c.draws(s, k.rest, 2)
			in[0] = c.draws(s, k.first, 2)[0]
			var y *Tensor
			err := Maybe(func() { y = c.call(s.Autocast(Float16), in) })
			switch {
			case k.want == NoDType:
				if !errors.Is(err, ErrDType) || !strings.Contains(err.Error(), "bfloat16") {
					t.Errorf("%s of %v and %v: %v", o.Name, k.first, k.rest, err)
				}
			case err != nil:
				t.Errorf("%s of %v and %v: %v", o.Name, k.first, k.rest, err)
			case y.DType() != k.want:
				t.Errorf("%s of %v and %v gives %v, want %v", o.Name, k.first, k.rest, y.DType(), k.want)
			}
			s.Close()
		}
	}
	if n < 4 {
		t.Errorf("only %d rows on the promote list", n)
	}
}

// TestBanned: the op is refused under autocast with the way out, and runs outside of it or when forced.
func TestBanned(t *testing.T) {
	n := 0
	for o := range Ops() {
		if o.Class != Banned {
			continue
		}
		n++
		s := NewScope()
		c := opCases[o.Name][0]
		err := Maybe(func() { c.call(s.Autocast(Float16), c.draws(s, Float32, 1)) })
		if !errors.Is(err, ErrBanned) || !strings.Contains(err.Error(), "amp.BCEWithLogits") {
			t.Errorf("%s: %v", o.Name, err)
		}
		if y := c.call(s.Autocast(Float16, Force(o.Name, FP32)), c.draws(s, Float16, 1)); y.DType() != Float32 {
			t.Errorf("forced: %v", y.DType())
		}
		c.call(s.Autocast(NoDType, Enabled(false)), c.draws(s, Float32, 1))
		s.Close()
	}
	if n != 1 {
		t.Errorf("%d banned rows, the reference has one", n)
	}
}

func TestMixedInputsDecide(t *testing.T) {
	s := NewScope()
	defer s.Close()
	vec := func(dt DType) *Tensor { return fromFloat64s(dt, []float64{1, 2}, []int{2}) }
	num := func(dt DType) *Tensor { return fromFloat64s(dt, []float64{3}, nil) }
	for _, c := range []struct {
		a, b *Tensor
		want DType
	}{
		{vec(Float16), vec(Float32), Float32},
		{vec(Float16), vec(BFloat16), Float32},
		{vec(Float16), num(Float32), Float16}, // a dimensioned tensor outranks a 0-dimensional one
		{num(Float16), num(Float32), Float32},
		{vec(BFloat16), num(Float64), BFloat16},
		{vec(Float32), vec(Float64), Float64},
		{vec(Int64), num(Float32), Float32}, // but not across kinds
		{vec(Int64), vec(Float16), Float16},
		{vec(Bool), vec(Int64), Int64},
	} {
		for _, scope := range []*Scope{s, s.Autocast(Float16)} {
			if got := Add(scope, c.a, c.b).DType(); got != c.want {
				t.Errorf("%v %v + %v %v gives %v, want %v", c.a.dt, c.a.shape, c.b.dt, c.b.shape, got, c.want)
			}
		}
	}
	// A one-element, one-dimensional float16 loss stays float16, where 65536 is infinite: the reference's trap.
	one := fromFloat64s(Float16, []float64{1e-3}, []int{1})
	if y := Mul(s, one, num(Float32)); y.dt != Float16 {
		t.Error(y.dt)
	}
}

func TestNestedScopes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, w := From([]float32{1, 2}, 1, 2), From([]float32{3, 4}, 2, 1)
	half := s.Autocast(Float16)
	dtype := func(s *Scope) DType { return MatMul(s, x, w).DType() }
	for _, c := range []struct {
		name string
		s    *Scope
		want DType
	}{
		{"outer", half, Float16},
		{"no dtype keeps the outer one", s.Autocast(BFloat16).Autocast(NoDType), BFloat16},
		{"default", s.Autocast(NoDType), Float16},
		{"opt out", half.Autocast(NoDType, Enabled(false)), Float32},
		{"float32", half.Autocast(Float32), Float32},
		{"inner", half.Autocast(BFloat16), BFloat16},
		{"no grad", half.NoGrad(), Float16},
		{"outer again", half, Float16},
		{"forced", s.Autocast(Float16, Force("matmul", FP32)), Float32},
		{"inherited", s.Autocast(Float16, Force("matmul", FP32)).Autocast(BFloat16), Float32},
	} {
		if got := dtype(c.s); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if err := Maybe(func() { MatMul(half.Autocast(NoDType, Enabled(false)), To(s, x, Float16), w) }); !errors.Is(err, ErrDType) {
		t.Errorf("mixed inputs with autocast off: %v", err)
	}
	if err := Maybe(func() { s.Autocast(Float16, Force("no_such_op", FP32)) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	if err := Maybe(func() { s.Autocast(Int64) }); !errors.Is(err, ErrDType) {
		t.Error(err)
	}
	if e := Explain(half.Autocast(Float16, Force("exp", Lower)), "exp", Float32); e.Output != Float16 || !strings.Contains(e.Rule, "forced to lower") {
		t.Error(e)
	}
}

// casts counts the cast events of a trace by whether the cache served them.
func casts(s *Scope) (made, hits int) {
	for _, e := range s.Trace().Events {
		switch {
		case e.Cast == nil || e.Phase != PhaseForward:
		case e.Cast.Hit:
			hits++
		default:
			made++
		}
	}
	return
}

func TestCastCache(t *testing.T) {
	type setup struct {
		name       string
		weight     func(s *Scope) *Tensor
		opts       []AutocastOption
		made, hits int
	}
	data := []float32{1, 2, 3, 4}
	leaf := func(*Scope) *Tensor { return From(data, 2, 2).RequireGrad() }
	for _, c := range []setup{
		{"a float32 leaf is cast once", leaf, nil, 1, 2},
		{"cache off", leaf, []AutocastOption{CacheEnabled(false)}, 3, 0},
		{"a frozen weight is cast each time", func(*Scope) *Tensor { return From(data, 2, 2) }, nil, 3, 0},
		{"so is a view", func(s *Scope) *Tensor { return Transpose(s, leaf(s), 0, 1) }, nil, 3, 0},
		{"float64 is never cast", func(*Scope) *Tensor { return fromFloat64s(Float64, []float64{1, 2, 3, 4}, []int{2, 2}).RequireGrad() }, nil, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := NewScope(Record(Decisions))
			defer root.Close()
			w := c.weight(root)
			s := root.Autocast(Float16, c.opts...)
			for range 3 {
				Linear(s, fromFloat64s(map[bool]DType{true: Float64, false: Float16}[w.dt == Float64], []float64{1, 2}, []int{1, 2}), w, nil)
			}
			if made, hits := casts(root); made != c.made || hits != c.hits {
				t.Errorf("%d casts and %d hits, want %d and %d", made, hits, c.made, c.hits)
			}
		})
	}
}

// TestCastCacheIsNeverStale: faults of the reference that are repaired here.
func TestCastCacheIsNeverStale(t *testing.T) {
	root := NewScope()
	defer root.Close()
	w := From([]float32{1}, 1, 1).RequireGrad()
	x := fromFloat64s(Float16, []float64{1}, []int{1, 1})
	half := root.Autocast(Float16)
	if v := Linear(half, x, w, nil).Item(); v != 1 {
		t.Fatal(v)
	}
	SetValues(w, []float32{2})
	if v := Linear(half, x, w, nil).Item(); v != 2 {
		t.Errorf("a weight changed in place is served stale: %v", v)
	}
	if y := Linear(half.Autocast(BFloat16), x, w, nil); y.DType() != BFloat16 {
		t.Errorf("a nested scope got the outer scope's dtype: %v", y.DType())
	}
	// A cast first made without gradients serves a later use with them.
	v := From([]float32{1}, 1, 1).RequireGrad()
	Linear(half.NoGrad(), x, v, nil)
	loss := Sum(root, Linear(half, x, v, nil))
	loss.Backward()
	if v.Grad() == nil || v.Grad().Item() != 1 {
		t.Errorf("gradient %v", v.Grad())
	}
}

// TestCacheSumsInLowerDType: contributions 1 and 2^-9 meet in bfloat16 with the cache, in float32 without, as in the reference.
func TestCacheSumsInLowerDType(t *testing.T) {
	for _, c := range []struct {
		cache bool
		want  float64
	}{{true, 1}, {false, 1.001953125}} {
		root := NewScope()
		w := From([]float32{1}, 1, 1).RequireGrad()
		s := root.Autocast(BFloat16, CacheEnabled(c.cache))
		a := Linear(s, From([]float32{1}, 1, 1), w, nil)
		b := Linear(s, From([]float32{0x1p-9}, 1, 1), w, nil)
		Add(root, Sum(root, a), Sum(root, b)).Backward()
		if got := w.Grad().Item(); got != c.want || w.Grad().DType() != Float32 {
			t.Errorf("cache %v: %v %v, want %v", c.cache, w.Grad().DType(), got, c.want)
		}
		root.Close()
	}
}
