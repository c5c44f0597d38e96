package nn_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// What two layers share has one name here and two in PyTorch's state dicts.
func ExampleTiedNames() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	table, head := nn.NewEmbedding(root, 10, 4), nn.NewLinear(root, 4, 10, nn.NoBias())
	head.Weight = table.Weight
	net := nn.NewSequential(nn.Named{Name: "e", Module: table}, nn.Named{Name: "o", Module: head})
	both := nn.StateDict(net, nn.TiedNames())
	fmt.Println(len(nn.StateDict(net)), slices.Sorted(maps.Keys(both)), nn.LoadStateDict(net, both))

	other := maps.Clone(both)
	other["o.weight"] = amp.Zeros(root, amp.Float32, 10, 4)
	fmt.Println(nn.LoadStateDict(net, other))
	// Output:
	// 1 [e.weight o.weight] <nil>
	// nn: the state does not fit the module: o.weight differs from e.weight, and the module ties them; load it into a model built as the saved one was, or pass nn.Partial()
}

// tiedNet is the model of testdata/generate.py, tied or not.
func tiedNet(root *amp.Scope, tied bool) *nn.Sequential {
	table, head := nn.NewEmbedding(root, 7, 4), nn.NewLinear(root, 4, 7)
	if tied {
		head.Weight = table.Weight
	}
	return nn.NewSequential(table, nn.NewSequential(nn.NewLinear(root, 4, 4), nn.ReLU), head)
}

// TestTiedAsTorch: a state of PyTorch's fits a tied model and an untied one, and a tied one's has PyTorch's names.
func TestTiedAsTorch(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	shapes := map[string][]int{}
	for name, p := range nn.StateDict(tiedNet(root, false)) {
		shapes[name] = p.Shape()
	}
	state := map[string]*amp.Tensor{}
	for _, entry := range readTorch(t).Tied {
		var values []float64
		for _, v := range entry[1].([]any) {
			values = append(values, v.(float64))
		}
		name := entry[0].(string)
		state[name] = amp.FromFloat64s(amp.Float32, values, shapes[name]...)
	}
	net := tiedNet(root, true)
	for _, m := range []nn.Module{net, tiedNet(root, false)} {
		if err := nn.LoadStateDict(m, state); err != nil {
			t.Error(err)
		}
	}
	if names := slices.Sorted(maps.Keys(nn.StateDict(net, nn.TiedNames()))); !slices.Equal(names, slices.Sorted(maps.Keys(state))) {
		t.Errorf("names %v, torch's %v", names, state)
	}
	if got := nn.StateDict(net)["0.weight"]; !slices.Equal(got.Float64s(), state["0.weight"].Float64s()) || nn.StateDict(net)["2.weight"] != nil {
		t.Errorf("%v", got)
	}

	delete(state, "0.weight") // files of safetensors have one name of each tensor, and not always the first
	fresh := tiedNet(root, true)
	if err := nn.LoadStateDict(fresh, state); err != nil || !slices.Equal(fresh.Parameters()[0].Float64s(), net.Parameters()[0].Float64s()) {
		t.Errorf("loaded by the second name: %v", err)
	}
	if err := nn.LoadStateDict(tiedNet(root, false), state); err == nil || !strings.Contains(err.Error(), "missing 0.weight") {
		t.Errorf("an untied model takes the second name: %v", err)
	}
}

// TestTiedRefusals: an extra name is one that the module shares a tensor under, and with its bits.
func TestTiedRefusals(t *testing.T) {
	root := amp.NewScope(amp.Seed(2))
	defer root.Close()
	net := tiedNet(root, true)
	before := net.Parameters()[0].Float64s()
	changed := func(name string, x *amp.Tensor) map[string]*amp.Tensor {
		state := nn.StateDict(net, nn.TiedNames())
		state[name] = x
		return state
	}
	w := nn.StateDict(net)["0.weight"]
	nudged := amp.FromFloat64s(amp.Float32, w.Float64s(), 7, 4)
	amp.Assign(amp.Narrow(root, nudged, 0, 3, 1), amp.Zeros(root, amp.Float32, 1, 4))
	for want, state := range map[string]map[string]*amp.Tensor{
		"2.weight differs from 0.weight": changed("2.weight", nudged),
		"0.weight, and the module ties":  changed("2.weight", amp.To(root, w, amp.Float64)),
		"unexpected 3.weight":            changed("3.weight", w),
	} {
		if err := nn.LoadStateDict(net, state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := nn.LoadStateDict(net, changed("2.weight", nudged), nn.Partial()); err == nil {
		t.Error("Partial chooses one of two values")
	}
	if !slices.Equal(before, net.Parameters()[0].Float64s()) {
		t.Error("a refused state changed the module")
	}
}

// TestTiedNamesOfModules: layers that are shared whole, layers within layers, models in models, and GPT's own sharing.
func TestTiedNamesOfModules(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	extra := func(m nn.Module) []string {
		own, all := nn.StateDict(m), nn.StateDict(m, nn.TiedNames())
		var out []string
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if own[name] == nil {
				out = append(out, name)
			}
		}
		return out
	}
	l, bn := nn.NewLinear(root, 2, 2), nn.NewBatchNorm1d(root, 2)
	block := nn.NewTransformerEncoderLayer(root, 4, 2, 8, nn.TransformerOptions{})
	a, b := nn.NewMultiheadAttention(root, 4, 2, nn.AttentionOptions{}), nn.NewMultiheadAttention(root, 4, 2, nn.AttentionOptions{})
	b.OutProj.Weight, b.InProjWeight = a.OutProj.Weight, a.InProjWeight
	cell := nn.NewGRUCell(root, 2, 2)
	gpt := nn.NewGPT(root, nn.GPTConfig{Context: 4, Features: 4, Layers: 1, Heads: 1, Vocabulary: 5, Tied: true})
	for want, m := range map[string]nn.Module{
		"2.bias 2.weight": nn.NewSequential(l, nn.ReLU, l),
		"1.bias 1.num_batches_tracked 1.running_mean 1.running_var 1.weight":           nn.NewSequential(bn, bn),
		"1.bias_hh 1.bias_ih 1.weight_hh 1.weight_ih":                                  nn.NewSequential(cell, cell),
		"0.b.in_proj_weight 0.b.out_proj.weight":                                       nn.NewSequential(nn.NewSequential(nn.Named{Name: "a", Module: a}, nn.Named{Name: "b", Module: b})),
		"1.linear1.bias 1.linear1.weight 1.linear2.bias 1.linear2.weight 1.norm1.bias": nn.NewSequential(block, block),
		"net.0.lm_head.weight": nn.Prefix("net", nn.NewSequential(gpt), nil),
		"":                     nn.NewSequential(nn.NewLinear(root, 2, 2), nn.NewLinear(root, 2, 2)),
	} {
		if got := strings.Join(extra(m), " "); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("further names %q, want %q", got, want)
		}
	}
}

// TestTiedNamesGo with their tensors.
func TestTiedNamesGo(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	before := nn.TiedTensors()
	func() {
		net := tiedNet(root, true)
		if nn.TiedTensors() != before+1 {
			t.Error("not noted")
		}
		runtime.KeepAlive(net)
	}()
	root.Close()
	for range 50 {
		runtime.GC()
		if nn.TiedTensors() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d tensors are noted, %d before", nn.TiedTensors(), before)
}
