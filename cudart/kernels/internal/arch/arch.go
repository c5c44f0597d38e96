// Package arch lists the architectures that modules are compiled for; the generator and who loads the modules read the same list.
package arch

import "fmt"

// An Arch is one: of devices of a capability and later ones, or of that one alone.
type Arch struct {
	Name       string // behind "sm_"
	Capability int    // 70 for 7.0
	Only       bool
	PTX        string // the version of the PTX ISA, 70 for 7.0, whose instructions its modules have
	Asked      string // the first line of files that have a form for it; "" if all have
}

// All are those there are, the last that a device can take first. PTX 7.0 runs on every driver since CUDA 11; 8.0 is the first with all
// instructions of sm_90a (CUDA 12).
var All = []Arch{
	{Name: "90a", Capability: 90, Only: true, PTX: "80", Asked: "// also for sm_90a\n"},
	{Name: "80", Capability: 80, PTX: "70", Asked: "// also for sm_80\n"},
	{Name: "70", Capability: 70, PTX: "70"},
}

// Serves says whether a device of a capability takes the architecture's modules.
func (a Arch) Serves(capability int) bool {
	return capability == a.Capability || capability > a.Capability && !a.Only
}

// File is the name of a unit's module.
func (a Arch) File(unit string) string { return fmt.Sprintf("%s_sm%s.ptx.gz", unit, a.Name) }
