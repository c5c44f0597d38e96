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
		text, err := kernels.PTX(unit, 90)
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
		"\t.reg .pred \t%p<3>;\n\t.reg .b16 \t%rs<3>;\n\t.reg .b32 \t%r<5>;\n\t.reg .f32 \t%f<5>;\n\t.reg .b64 \t%rd<3>;\n\t.reg .f32 \t%fresh;\n\t" + instruction + "\n\tret;\n}\n"
}

func TestInstructions(t *testing.T) {
	for _, c := range []struct{ ptx, cpp string }{
		{"add.s32 %r1, %r2, 5;", "\nr_r1 = r_r2 + 5u;\n"},
		{"add.s32 %r1, %r2, -5;", "\nr_r1 = r_r2 + static_cast<u32>(-5ll);\n"},
		{"add.s16 %rs1, %rs2, %rs1;", "\nr_rs1 = add<s16>(s16(r_rs2), s16(r_rs1));\n"},
		{"@!%p1 mov.f32 %f1, 0f3F800000;", "\nif (!r_p1) { r_f1 = 0x1p+00f; }\n"},
		{"mov.f32 %f1, 0f7FC00000;", "\nr_f1 = get<f32>(u32(0x7FC00000));\n"},
		{"mov.b32 %f1, %r1;", "put(r_f1, mov<b32>(r_r1));"},
		{"mov.b32 %r1, %f1;", "\nr_r1 = get<u32>(r_f1);\n"},
		{"shl.b64 %rd1, %rd2, 3;", "\nr_rd1 = r_rd2 << 3u;\n"},
		{"shl.b64 %rd1, %rd2, 64;", "\nr_rd1 = shl<b64>(r_rd2, 64u);\n"},
		{"shr.s32 %r1, %r2, 31;", "\nr_r1 = s32(r_r2) >> 31u;\n"},
		{"shr.u32 %r1, %r2, %r3;", "\nr_r1 = shr<u32>(r_r2, r_r3);\n"},
		{"mul.wide.s32 %rd1, %r1, %r2;", "\nr_rd1 = mul_wide<s32>(s32(r_r1), s32(r_r2));\n"},
		{"fma.rn.f32 %f1, %f2, %f3, %f4;", "\nr_f1 = __builtin_fmaf(r_f2, r_f3, r_f4);\n"},
		{"selp.f32 %f1, %f2, %f3, %p1;", "\nr_f1 = r_p1 ? r_f2 : r_f3;\n"},
		{"setp.ltu.f32 %p1, %f1, %f2;", "\nr_p1 = !(r_f1 >= r_f2);\n"},
		{"setp.ne.f32 %p1, %f1, %f2;", "\nr_p1 = ptx::ne<f32>(r_f1, r_f2);\n"},
		{"setp.lt.s64 %p1, %rd1, 0;", "\nr_p1 = s64(r_rd1) < static_cast<s64>(0ll);\n"},
		{"cvt.rzi.s32.f32 %r1, %f1;", "put(r_r1, cvt<s32, f32>(rzi<f32>(r_f1)));"},
		{"cvt.s64.s32 %rd1, %r1;", "\nr_rd1 = s64(s32(r_r1));\n"},
		{"cvt.u32.u64 %r1, %rd1;", "\nr_r1 = u32(r_rd1);\n"},
		{"mov.b32 {%rs1, %rs2}, %r1;", "r_rs2 = b16(whole >> 16);"},
		{"ld.param.v2.u32 {%r1, %r2}, [k_param_0+8];", "place<8>((reinterpret_cast<u64>(args[0]) + 8ull))"},
		{"ld.global.f32 %f1, [%rd1];", "\nr_f1 = *reinterpret_cast<const f32*>(place<4>(r_rd1));\n"},
		{"ld.global.s32 %rd1, [%rd2];", "put(r_rd1, *reinterpret_cast<const s32*>(at + 0));"},
		{"st.shared.f32 [cell+4], %f1;", "*reinterpret_cast<f32*>(place<4>(SHARED(((ptx::statics + 0) + 4ull)))) = r_f1;"},
		{"ld.shared.u32 %r1, [%r2+-4];", "SHARED((u64(r_r2) + 18446744073709551612ull))"},
		{"mov.u32 %r1, %tid.x;", "\nr_r1 = get<u32>(threadIdx.x);\n"},
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, 1, 0, 1;",
			"\n{ f32* const sums[] = {&r_f1, &r_f2, &r_f3, &r_f4}; emu::wgmma(emu::Wgmma{r_rd1, r_rd2, 8, r_p1, 0 == 1, 1 == 1, bf16_to_f32, sums}); }\n"},
		{"wgmma.wait_group.sync.aligned 1;", "\nemu::wgmmaWait(1);\n"},
		{"fence.proxy.async.shared::cta; over: mov.f32 %f1, %f2;", "\nemu::proxyFence();\nover:;\nr_f1 = r_f2;\n"},
		{"{ .reg .b16 f; mov.b16 f, %rs1; } mov.f32 %f1, %f2;", "u16 r_f;\nr_f = r_rs1;\n}\nr_f1 = r_f2;\n"},
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

// TestUnwritten: a register holds NaN until it is written, and is declared with it where that may be seen.
func TestUnwritten(t *testing.T) {
	for ptx, unwritten := range map[string]bool{
		"mov.f32 %f1, %fresh;":                                                                                       true,
		"mov.f32 %fresh, %f1; mov.f32 %f1, %fresh;":                                                                  false,
		"@%p1 mov.f32 %fresh, %f1; mov.f32 %f1, %fresh;":                                                             true,
		"@%p1 bra over; mov.f32 %fresh, %f1; over: mov.f32 %f1, %fresh;":                                             true,
		"@%p1 bra other; mov.f32 %fresh, %f1; bra end; other: mov.f32 %fresh, %f2; end: mov.f32 %f1, %fresh;":        false,
		"top: st.global.f32 [%rd1], %fresh; mov.f32 %fresh, %f1; bra top;":                                           true,
		"mov.f32 %fresh, %f1; top: mov.f32 %f1, %fresh; mov.f32 %fresh, %f2; @%p1 bra top;":                          false,
		"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %fresh}, %rd1, %rd2, %p1, 1, 1, 0, 0;":    true,
		"fma.rn.f32 %fresh, %f1, %f2, %fresh;":                                                                       true,
		"{ .reg .f32 %fresh; mov.f32 %fresh, %f1; } { .reg .f32 %fresh; mov.f32 %f1, %fresh; }":                      true,
		"{ .reg .f32 %fresh; mov.f32 %fresh, %f1; } { .reg .f32 %fresh; mov.f32 %fresh, %f2; mov.f32 %f1, %fresh; }": false,
	} {
		cpp, _, err := Cpp(moduleOf(ptx))
		if err != nil || strings.Contains(cpp, "r_fresh = nothing<f32>()") != unwritten {
			t.Errorf("%s: want %v\n%s%v", ptx, unwritten, cpp, err)
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
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, -1, 0, 0;", "operands are not those"},
		{"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %r4}, %rd1, %rd2, %p1, 1, 1, 0, 0;", "%r4 is no register of f32"},
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
