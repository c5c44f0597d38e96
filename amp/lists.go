package amp

import (
	"fmt"
	"maps"
)

// Lists names the lists of ops that autocast goes by.
type Lists uint8

// The lists.
const (
	CUDALists Lists = iota // the default, on every device
	CPULists               // those of PyTorch's CPU autocast: exp, softmax, layer_norm and others stay in the lower dtype
	ApexLists              // those of Apex's O1: mean, std and var in float32, arithmetic in the widest of its inputs
	PureLists              // every op in the lower dtype, the banned one too: what pure half precision does
)

// UseLists chooses the lists: amp.UseLists(amp.CPULists) decides as PyTorch does on a CPU. Nested scopes inherit it. It panics with
// ErrArgument for unknown ones.
func UseLists(l Lists) AutocastOption {
	if l > PureLists {
		fail("UseLists", ErrArgument, "use amp.CUDALists, amp.CPULists, amp.ApexLists or amp.PureLists", "lists %d", l)
	}
	return func(a *autocast) { a.lists = l }
}

// apexDiffers holds the rows whose class on Apex's lists is another than on the CUDA lists, which grew out of them. Rows
// newer than Apex keep their class.
var apexDiffers = map[string]Class{
	"mean": FP32, "std": FP32, "var": FP32, "grid_sample": FP32,
	"add": Promote, "sub": Promote, "mul": Promote, "div": Promote,
	"eq": Promote, "ne": Promote, "lt": Promote, "le": Promote, "gt": Promote, "ge": Promote,
	"cat": Promote, "stack": Promote,
}

// String returns "cuda", "cpu", "apex" or "pure".
func (l Lists) String() string {
	if l > PureLists {
		return fmt.Sprintf("lists(%d)", uint8(l))
	}
	return [...]string{"cuda", "cpu", "apex", "pure"}[l]
}

// ClassOn returns the op's class on the given lists: what autocast does with it in a scope that uses them and forces nothing.
func (o *Op) ClassOn(l Lists) Class {
	a := autocast{lists: l}
	return a.class(o)
}

// Lists returns the lists that the scope's autocast goes by.
func (s *Scope) Lists() Lists { return s.known("Lists").auto.lists }

// Overrides returns the classes that Force and the session's settings gave ops in the scope, by name; the map is the caller's.
func (s *Scope) Overrides() map[string]Class { return maps.Clone(s.known("Overrides").auto.force) }

// class returns the op's class on the chosen lists.
func (a *autocast) class(o *Op) Class {
	switch a.lists {
	case CPULists:
		return o.CPUList
	case ApexLists:
		return apexClass(o)
	case PureLists:
		if o.custom == nil {
			return Lower
		}
	}
	return o.Class
}

func apexClass(o *Op) Class {
	if c, ok := apexDiffers[o.Name]; ok {
		return c
	}
	if o.Class == FP32Output || o.Class == FP32Append {
		return FP32 // Apex casts the inputs
	}
	return o.Class
}
