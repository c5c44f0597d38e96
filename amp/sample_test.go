package amp

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// TestSample: evenly spaced elements in row-major order, whatever the layout; all where there are few.
func TestSample(t *testing.T) {
	root := NewScope(On("cpu"))
	defer root.Close()
	n := 5000
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i)
	}
	x := From(values, 50, 100).To(root)
	got := CountExponents(x).Sample
	for i, v := range got {
		if int(v) != i*n/16 {
			t.Errorf("element %d is %v, want that at %d", i, v, i*n/16)
		}
	}
	if len(got) != 16 {
		t.Errorf("%d elements", len(got))
	}
	turned := CountExponents(Transpose(root, x, 0, 1)).Sample
	for i, v := range turned {
		at := i * n / 16 // of [100 50]: column at%50 of the original's row
		if want := (at%50)*100 + at/50; int(v) != want {
			t.Errorf("transposed: element %d is %v, want %d", i, v, want)
		}
	}
	if few := CountExponents(From([]float32{3, 1, 2}, 3).To(root)).Sample; !slices.Equal(few, Sample{3, 1, 2}) {
		t.Errorf("of three: %v", few)
	}
}

func TestSampleJSON(t *testing.T) {
	s := Sample{1, -.1, 0, float32(math.NaN()), float32(math.Inf(1)), 1e-45}
	b, err := json.Marshal(Exponents{Sample: s})
	if err != nil {
		t.Fatal(err)
	}
	var e Exponents
	if err := json.Unmarshal(b, &e); err != nil {
		t.Fatal(string(b), err)
	}
	for i, v := range e.Sample {
		want := s[i]
		if math.IsInf(float64(want), 0) {
			want = float32(math.NaN())
		}
		if v != want && !(v != v && want != want) {
			t.Errorf("%d: %v became %v", i, want, v)
		}
	}
	for _, bad := range []string{`{"sample":3}`, `{"sample":["x"]}`, `{"sample":[1,]}`, `{"sample":{}}`} {
		if json.Unmarshal([]byte(bad), &e) == nil {
			t.Errorf("%s was read", bad)
		}
	}
	for good, n := range map[string]int{`{"sample":null}`: 0, `{"sample":[ ]}`: 0, `{"sample":[1 , 2]}`: 2} {
		if err := json.Unmarshal([]byte(good), &e); err != nil || len(e.Sample) != n {
			t.Errorf("%s: %v, %v", good, e.Sample, err)
		}
	}
}
