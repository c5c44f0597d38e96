package ptx

import (
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/kernels"
)

// TestEveryModule writes all of Halftone's modules: each instruction is known, and each kernel is in the table.
func TestEveryModule(t *testing.T) {
	of := map[string][]string{}
	kernels.Symbols(func(symbol, unit string) { of[unit] = append(of[unit], symbol) })
	for unit, want := range of {
		text, err := kernels.PTX(unit, 80)
		if err != nil {
			t.Fatal(err)
		}
		cpp, got, err := Cpp(string(text))
		if err != nil {
			t.Errorf("%s: %v", unit, err)
			continue
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %d kernels, want %d", unit, len(got), len(want))
		}
		for _, k := range want {
			if !strings.Contains(cpp, `{"`+k+`", enter_`) {
				t.Errorf("%s: kernel %s is not in the table", unit, k)
			}
		}
	}
}

// moduleOf is a module with a kernel of a single instruction.
func moduleOf(instruction string) string {
	return ".version 7.0\n.target sm_80\n.address_size 64\n.shared .align 8 .b8 cell[16];\n.visible .entry k(\n\t.param .align 8 .b8 k_param_0[16]\n)\n.maxntid 64, 2, 1\n{\n" +
		"\t.reg .pred \t%p<3>;\n\t.reg .b16 \t%rs<3>;\n\t.reg .b32 \t%r<5>;\n\t.reg .f32 \t%f<5>;\n\t.reg .b64 \t%rd<3>;\n\t" + instruction + "\n\tret;\n}\n"
}

func TestInstructions(t *testing.T) {
	for _, c := range []struct{ ptx, cpp string }{
		{"add.s32 %r1, %r2, -5;", "put(r_r1, add<s32>(get<s32>(r_r2), static_cast<s32>(-5ll)));"},
		{"@!%p1 mov.f32 %f1, 0f3F800000;", "if (!r_p1) { put(r_f1, mov<f32>(get<f32>(u32(0x3F800000)))); }"},
		{"shl.b64 %rd1, %rd2, 3;", "put(r_rd1, shl<b64>(get<b64>(r_rd2), static_cast<u32>(3ll)));"},
		{"setp.ltu.f32 %p1, %f1, %f2;", "r_p1 = ptx::ltu<f32>(get<f32>(r_f1), get<f32>(r_f2));"},
		{"cvt.rzi.s32.f32 %r1, %f1;", "put(r_r1, cvt<s32, f32>(rzi<f32>(get<f32>(r_f1))));"},
		{"mov.b32 {%rs1, %rs2}, %r1;", "put(r_rs2, static_cast<b16>(whole >> 16));"},
		{"ld.param.v2.u32 {%r1, %r2}, [k_param_0+8];", "place<8>((reinterpret_cast<u64>(args[0]) + static_cast<u64>(8ll)))"},
		{"st.shared.f32 [cell+4], %f1;", "place<4>(SHARED(((ptx::statics + 0) + static_cast<u64>(4ll))))"},
		{"ld.shared.u32 %r1, [%r2+-4];", "SHARED((static_cast<u64>(get<u32>(r_r2)) + static_cast<u64>(-4ll)))"},
		{"mov.u32 %r1, %tid.x;", "put(r_r1, mov<u32>(get<u32>(threadIdx.x)));"},
	} {
		cpp, names, err := Cpp(moduleOf(c.ptx))
		if err != nil || !slices.Equal(names, []string{"k"}) {
			t.Errorf("%s: %q, %v", c.ptx, names, err)
		}
		if !strings.Contains(cpp, c.cpp) {
			t.Errorf("%s is not %s in\n%s", c.ptx, c.cpp, cpp)
		}
		if !strings.Contains(cpp, `{"k", enter_f_k, sizes_f_k, 1, 128}`) {
			t.Errorf("the table's row is wrong:\n%s", cpp)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ ptx, words string }{
		{"frobnicate.b32 %r1, %r2;", "frobnicate.b32 %r1, %r2: an instruction that is not known here"},
		{"add.s32 %r1, %r2;", "operands are not those"},
		{"cvt.rna.tf32.f32 %r1, %f1;", "operands are not those"},
		{"mov.u64 %rd1, elsewhere;", "elsewhere is no variable"},
		{"bar.sync 1;", "operands are not those"},
		{"add.f32 %f1, %f2, 1;", "1 is no f32"},
		{"call.uni missing, (%r1);", "no function of that name"},
	} {
		if _, _, err := Cpp(moduleOf(c.ptx)); err == nil || !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), "k: ") {
			t.Errorf("%s: %v", c.ptx, err)
		}
	}
	if _, _, err := Cpp(".version 7.0\n.visible .entry k(\n)\n{\n\tret;\n"); err == nil {
		t.Error("a body without an end is taken")
	}
}
