package amp

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bruteEinsum sums over every assignment of numbers to letters, one after another. The equation has an arrow and no ellipsis; sizes
// of 1 are repeated.
func bruteEinsum(equation string, in []*Tensor) ([]float64, []int) {
	left, out, _ := strings.Cut(equation, "->")
	terms := strings.Split(left, ",")
	size := map[byte]int{}
	var letters []byte
	for i, term := range terms {
		for d := range len(term) {
			if size[term[d]] == 0 {
				letters = append(letters, term[d])
			}
			size[term[d]] = max(size[term[d]], in[i].shape[d])
		}
	}
	shape := []int{}
	for i := range len(out) {
		shape = append(shape, size[out[i]])
	}
	sums := make([]float64, length(shape))
	values := make([][]float64, len(in))
	total := 1
	for _, l := range letters {
		total *= size[l]
	}
	for i, x := range in {
		values[i] = x.Float64s()
	}
	for n := range total {
		at := map[byte]int{}
		for _, l := range letters {
			at[l] = n % size[l]
			n /= size[l]
		}
		place := func(term string, shape []int) int {
			p := 0
			for d := range len(term) {
				p = p*shape[d] + at[term[d]]%shape[d]
			}
			return p
		}
		product := 1.0
		for i, term := range terms {
			product *= values[i][place(term, in[i].shape)]
		}
		sums[place(out, shape)] += product
	}
	return sums, shape
}

// TestEinsumDefinition compares random equations with the definition.
func TestEinsumDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	s := NewScope(Seed(3))
	defer s.Close()
	sizes := map[byte]int{'a': 2, 'b': 3, 'c': 1, 'D': 2, 'e': 4}
	for range 400 {
		var terms []string
		var in []*Tensor
		used := ""
		for range 1 + r.IntN(3) {
			term, shape := "", []int{}
			for range r.IntN(4) {
				l := "abcDe"[r.IntN(5)]
				n := sizes[l]
				if r.IntN(8) == 0 && !strings.Contains(term, string(l)) {
					n = 1
				}
				if k := strings.IndexByte(term, l); k >= 0 {
					n = shape[k]
				}
				term, shape = term+string(l), append(shape, n)
				if !strings.Contains(used, string(l)) {
					used += string(l)
				}
			}
			terms = append(terms, term)
			in = append(in, Rand(s, Float64, -1, 1, shape...))
		}
		out := ""
		for _, k := range r.Perm(len(used))[:r.IntN(len(used)+1)] {
			out += used[k : k+1]
		}
		equation := strings.Join(terms, ",") + "->" + out
		want, shape := bruteEinsum(equation, in)
		got := Einsum(s, equation, in...)
		if !slices.Equal(got.Shape(), shape) {
			t.Fatalf("%s: shape %v, want %v", equation, got.shape, shape)
		}
		wantValues(t, equation, got, want...)
	}
}

func TestEinsumForms(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := From([]float64{1, 2, 3, 4, 5, 6}, 2, 3), From([]float64{1, -1, 2}, 3)
	wantValues(t, "implicit order", Einsum(s, "ba", a), 1, 4, 2, 5, 3, 6)
	wantValues(t, "capitals first", Einsum(s, "aB", a), 1, 4, 2, 5, 3, 6)
	wantValues(t, "implicit sum", Einsum(s, "ij,j", a, b), 5, 11)
	wantValues(t, "spaces", Einsum(s, " i j , j -> i ", a, b), 5, 11)
	wantValues(t, "ellipsis", Einsum(s, "...j,j->...", a, b), 5, 11)
	wantValues(t, "ellipsis first", Einsum(s, "i...->...i", a), 1, 4, 2, 5, 3, 6)
	wantValues(t, "ellipsis summed", Einsum(s, "i...->i", a), 6, 15)
	wantValues(t, "ellipsis of nothing", Einsum(s, "...ij->...ji", a), 1, 4, 2, 5, 3, 6)
	wantValues(t, "numbers", Einsum(s, ",->", Scalar(3.0), Scalar(4.0)), 12)
	if got := Values[int64](Einsum(s, "ij,jk->ik", From([]int64{1, 2, 3, 4}, 2, 2), From([]int64{5, 6, 7, 8}, 2, 2))); !slices.Equal(got, []int64{19, 22, 43, 50}) {
		t.Errorf("integers %v", got)
	}
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"no operand":    {ErrArgument, "no operand", func() { Einsum(s, "ij") }},
		"nil":           {ErrArgument, "operand 0 is nil", func() { Einsum(s, "ij", nil) }},
		"terms":         {ErrArgument, "2 terms for 1", func() { Einsum(s, "ij,jk->ik", a) }},
		"letters":       {ErrShape, "3 letters, operand 0 is [2 3]", func() { Einsum(s, "ijk->i", a) }},
		"too few":       {ErrShape, "1 letters", func() { Einsum(s, "i->i", a) }},
		"character":     {ErrArgument, "unexpected '1'", func() { Einsum(s, "i1->i", a) }},
		"two ellipses":  {ErrArgument, "unexpected '.'", func() { Einsum(s, "...i...->i", a) }},
		"two arrows":    {ErrArgument, "unexpected '-'", func() { Einsum(s, "ij->i->j", a) }},
		"unknown out":   {ErrArgument, "result has k", func() { Einsum(s, "ij->k", a) }},
		"out twice":     {ErrArgument, "i twice", func() { Einsum(s, "ij->ii", a) }},
		"sizes":         {ErrShape, "i is 2 before and 3", func() { Einsum(s, "ij,i->j", a, b) }},
		"diagonal":      {ErrShape, "diagonal", func() { Einsum(s, "ii->i", a) }},
		"ellipsis size": {ErrShape, "... is 2 before and 3", func() { Einsum(s, "...j,...->j", a, b) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestProductsDecide: what autocast does with the products that are made of others.
func TestProductsDecide(t *testing.T) {
	s := NewScope()
	defer s.Close()
	cuda, cpu := s.Autocast(Float16), s.Autocast(BFloat16, UseLists(CPULists))
	a := From([]float32{1, 2, 3, 4}, 2, 2)
	h := FromFloat64s(Float16, []float64{1, 2, 3, 4}, 2, 2)
	w := From([]float32{1, 2, 3, 4}, 1, 2, 2)
	for name, c := range map[string]struct {
		got  *Tensor
		want DType
	}{
		"einsum lowers":                             {Einsum(cuda, "ij,jk->ik", a, a), Float16},
		"even one that only sums":                   {Einsum(cuda, "ij->i", a), Float16},
		"on a CPU its product does":                 {Einsum(cpu, "ij,jk->ik", a, a), BFloat16},
		"and a sum stays":                           {Einsum(cpu, "ij->i", a), Float32},
		"multi_dot lowers":                          {MultiDot(cuda, a, a), Float16},
		"vecdot lowers":                             {Vecdot(cuda, a, a, 1), Float16},
		"vecdot lowers on a CPU":                    {Vecdot(cpu, a, a, 1), BFloat16},
		"tensordot promotes":                        {TensordotN(cuda, a, h, 1), Float32},
		"and stays low for halves":                  {TensordotN(cuda, h, h, 1), Float16},
		"on a CPU its product lowers":               {TensordotN(cpu, a, a, 1), BFloat16},
		"inner is tensordot":                        {Inner(cuda, a, h), Float32},
		"cross promotes":                            {Cross(cuda, From([]float32{1, 2, 3}), FromFloat64s(Float16, []float64{1, 2, 3}, 3), 0), Float32},
		"bilinear promotes":                         {Bilinear(cuda, h, h, w, nil), Float32},
		"bilinear of halves":                        {Bilinear(cuda, h, h, FromFloat64s(Float16, w.Float64s(), 1, 2, 2), nil), Float16},
		"outer follows its inputs":                  {Outer(cuda, From([]float32{1}), From([]float32{2})), Float32},
		"trace too":                                 {MatrixTrace(cuda, h), Float16},
		"which on a CPU is float32":                 {MatrixTrace(cpu, To(s, h, BFloat16)), Float32},
		"vdot in the lower dtype where both are":    {Vdot(cuda, FromFloat64s(Float16, []float64{1}, 1), FromFloat64s(Float16, []float64{1}, 1)), Float16},
		"vdot in the wider where one is":            {Vdot(cuda, FromFloat64s(Float16, []float64{1}, 1), From([]float32{1})), Float32},
		"einsum of float64 is left alone":           {Einsum(cuda, "ij->j", FromFloat64s(Float64, []float64{1, 2}, 1, 2)), Float64},
		"forced":                                    {Einsum(s.Autocast(Float16, Force("einsum", FP32)), "ij,jk->ik", h, h), Float32},
		"off":                                       {Einsum(s, "ij,jk->ik", h, h), Float16},
		"bilinear off, halves":                      {Bilinear(s, h, h, FromFloat64s(Float16, w.Float64s(), 1, 2, 2), nil), Float16},
		"kron follows its inputs":                   {Kron(cuda, h, h), Float16},
		"diagonal moves nothing":                    {Diagonal(cuda, h, 0, 0, 1), Float16},
		"einsum's elementwise product lowers, too":  {Einsum(cuda, "ij,ij->ij", a, a), Float16},
		"einsum's elementwise product on a CPU not": {Einsum(cpu, "ij,ij->ij", a, a), Float32},
	} {
		if c.got.dt != c.want {
			t.Errorf("%s: %v, want %v", name, c.got.dt, c.want)
		}
	}
}
