package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Products of warpgroups, sm_90a. Their sums are registers that the emulator writes when they are waited for.

// warpgroup is wgmma.mma_async, and what comes before and behind it.
func warpgroup(w *writer, s statement, parts []string) (string, error) {
	switch what := strings.Join(parts, "."); {
	case what == "fence.sync.aligned" && len(s.operands) == 0:
		return "emu::wgmmaFence();", nil
	case what == "commit_group.sync.aligned" && len(s.operands) == 0:
		return "emu::wgmmaCommit();", nil
	case what == "wait_group.sync.aligned" && len(s.operands) == 1:
		return fmt.Sprintf("emu::wgmmaWait(%s);", s.operands[0]), nil
	case strings.HasPrefix(what, "mma_async.sync.aligned."):
		return warpgroupProduct(w, s, parts[3:])
	}
	return "", errOperands
}

// warpgroupProduct is wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {…}, a, b, add, 1, 1, turnA, turnB: both operands in shared memory, and
// none negated.
func warpgroupProduct(w *writer, s statement, parts []string) (string, error) {
	sums, ok := vector(s.operands[0])
	if !ok || len(s.operands) != 8 || len(parts) != 4 || parts[1] != "f32" || parts[2] != parts[3] || parts[2] != "f16" && parts[2] != "bf16" {
		return "", errOperands
	}
	columns, fits := strings.CutPrefix(parts[0], "m64n")
	n, err := strconv.Atoi(strings.TrimSuffix(columns, "k16"))
	if !fits || err != nil || !strings.HasSuffix(columns, "k16") || len(sums) != n/2 || s.operands[4] != "1" || s.operands[5] != "1" {
		return "", errOperands
	}
	registers := make([]string, len(sums))
	for i, r := range sums {
		if w.kinds[r] != "f32" {
			return "", fmt.Errorf("%s is no register of f32", r)
		}
		registers[i] = "&" + register(r)
	}
	var args []string
	for i, kind := range []string{"u64", "u64", "pred"} {
		v, err := w.value(s.operands[i+1], kind)
		if err != nil {
			return "", err
		}
		args = append(args, v)
	}
	for _, turn := range s.operands[6:] {
		if turn != "0" && turn != "1" {
			return "", errOperands
		}
	}
	return fmt.Sprintf("{ f32* const sums[] = {%s}; emu::wgmma(emu::Wgmma{%s, %s, %d, %s, %s == 1, %s == 1, %s_to_f32, sums}); }",
		strings.Join(registers, ", "), args[0], args[1], n, args[2], s.operands[6], s.operands[7], parts[2]), nil
}

// proxyFence is fence.proxy.async, of all memory or shared memory.
func proxyFence(_ *writer, s statement, parts []string) (string, error) {
	if what := strings.Join(parts, "."); len(s.operands) > 0 || what != "proxy.async" && what != "proxy.async.shared::cta" {
		return "", errOperands
	}
	return "emu::proxyFence();", nil
}
