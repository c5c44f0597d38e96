package dataset_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
)

// named is a dataset with names for its classes.
type named struct {
	dataset.Dataset
	classes []string
}

func (n named) Spec() dataset.Spec {
	s := n.Dataset.Spec()
	s.Classes = n.classes
	return s
}

// TestConcat: the samples come in the order of the datasets, also where one of them is empty, and shuffled through a loader.
func TestConcat(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	set := func(labels ...int64) *dataset.Tensors {
		x := make([]float32, 2*len(labels))
		for i, y := range labels {
			x[2*i], x[2*i+1] = float32(y), -float32(y)
		}
		return dataset.NewTensors(amp.From(x, len(labels), 2), amp.From(labels, len(labels)))
	}
	a, b, c := set(1, 2, 3), set(4, 5), set(6)
	all := dataset.NewConcat(a, dataset.NewSubset(a), b, c)
	if all.Len() != 6 {
		t.Fatalf("%d samples", all.Len())
	}
	read := func(l *dataset.Loader) (labels []int64) {
		for _, batch := range l.Epoch(root) {
			y := amp.Values[int64](batch.Y.CPU())
			for i, v := range batch.X.CPU().Float64s() {
				if want := float64(y[i/2]) * float64(1-2*(i%2)); v != want {
					t.Errorf("input %v of label %d", v, y[i/2])
				}
			}
			labels = append(labels, y...)
		}
		return labels
	}
	if got := read(dataset.NewLoader(all, 4)); !slices.Equal(got, []int64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("in order: %v", got)
	}
	shuffled := read(dataset.NewLoader(all, 4, dataset.Shuffle(3)))
	slices.Sort(shuffled)
	if !slices.Equal(shuffled, []int64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("shuffled: %v", shuffled)
	}
	if got := dataset.NewConcat(named{a, []string{"x"}}, named{b, []string{"x"}}).Spec().Classes; !slices.Equal(got, []string{"x"}) {
		t.Errorf("classes %q", got)
	}
	if got := dataset.NewConcat(named{a, []string{"x"}}, b).Spec().Classes; got != nil {
		t.Errorf("classes %q", got)
	}
	values := dataset.NewTensors(amp.Zeros(root, amp.Float32, 2, 2), amp.Zeros(root, amp.Float32, 2))
	for want, f := range map[string]func(){
		"no datasets": func() { dataset.NewConcat() },
		"is nil":      func() { dataset.NewConcat(a, nil) },
		"samples of dataset 1 are float32 [3], those before float32 [2]": func() {
			dataset.NewConcat(a, dataset.NewTensors(amp.Zeros(root, amp.Float32, 2, 3), amp.From([]int64{1, 2})))
		},
		"targets of dataset 2 are float32 [], those before int64 []": func() { dataset.NewConcat(a, b, values) },
		`classes of dataset 1 are ["y"], those before ["x"]`:         func() { dataset.NewConcat(named{a, []string{"x"}}, named{b, []string{"y"}}) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
