package amp

import (
	"errors"
	"strings"
	"testing"
)

// TestExplainAnswersEveryOp checks that Explain gives an answer or an *Error for every row, lists and number of inputs.
func TestExplainAnswersEveryOp(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for o := range Ops() {
		for _, l := range []Lists{CUDALists, CPULists, PureLists, ApexLists} {
			half := s.Autocast(BFloat16, UseLists(l))
			for n := range len(o.Args) + 2 {
				dtypes := make([]DType, n)
				for i := range dtypes {
					dtypes[i] = Float32
				}
				var asErr *Error
				err := Maybe(func() { Explain(half, o.Name, dtypes...) })
				if err != nil && (!errors.As(err, &asErr) || n >= len(o.Args) && n > 0 && !errors.Is(err, ErrBanned)) {
					t.Errorf("%s with %d inputs: %v", o.Name, n, err)
				}
			}
		}
	}
}

// TestExplainTellsListsApart checks the sentence for an op that the scope's lists hold otherwise than the table, and the proposal for a
// misspelled name.
func TestExplainTellsListsApart(t *testing.T) {
	s := NewScope()
	defer s.Close()
	want := "unlisted on the scope's lists (the table says fp32_output: "
	if e := Explain(s.Autocast(BFloat16, UseLists(CPULists)), "softmax", BFloat16); !strings.HasPrefix(e.Rule, want) {
		t.Errorf("rule %q", e.Rule)
	}
	for name, fix := range map[string]string{"MatMul": `use "matmul"`, "mat_mul": `use "matmul"`, "rellu": `use "relu", if`, "geluu": `use "gelu", if`, "zebrafish": "use a name of amp.Ops()", "nothing": "use a name of amp.Ops()"} {
		for _, err := range []error{Maybe(func() { Explain(s, name, Float32) }), Maybe(func() { s.Autocast(Float16, Force(name, Lower)) })} {
			if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), fix) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if err := Maybe(func() { Explain(s, "linear") }); err == nil || !strings.Contains(err.Error(), "give the dtypes of x, weight, bias") {
		t.Errorf("no dtypes: %v", err)
	}
}
