package ptx

import (
	"fmt"
	"strings"
)

// What threads do with each other, and where they go.

// shuffle is shfl.sync.bfly.b32 d, a, b, c, mask.
func shuffle(w *writer, s statement, parts []string) (string, error) {
	if len(parts) != 3 || parts[0] != "sync" || parts[2] != "b32" || len(s.operands) != 5 || strings.Contains(s.operands[0], "|") {
		return "", errOperands
	}
	args := []string{"ptx::" + parts[1]}
	for _, o := range s.operands[1:] {
		v, err := w.value(o, "u32")
		if err != nil {
			return "", err
		}
		args = append(args, v)
	}
	return fmt.Sprintf("put(%s, shfl(%s));", register(s.operands[0]), strings.Join(args, ", ")), nil
}

func vote(w *writer, s statement, parts []string) (string, error) {
	if strings.Join(parts, ".") != "sync.ballot.b32" || len(s.operands) != 3 {
		return "", errOperands
	}
	p, err := w.value(s.operands[1], "pred")
	if err != nil {
		return "", err
	}
	mask, err := w.value(s.operands[2], "u32")
	return fmt.Sprintf("put(%s, ballot(%s, %s));", register(s.operands[0]), p, mask), err
}

// barrier is bar.sync 0 of a block, and bar.warp.sync of a warp. Barriers of the same number are one, wherever they stand.
func barrier(w *writer, s statement, parts []string) (string, error) {
	if len(s.operands) != 1 {
		return "", errOperands
	}
	switch strings.Join(parts, ".") {
	case "sync":
		if s.operands[0] == "0" {
			return "emu::barrier(0);", nil
		}
	case "warp.sync":
		mask, err := w.value(s.operands[0], "u32")
		return fmt.Sprintf("emu::warp(%s, nullptr, nullptr, true);", mask), err
	}
	return "", errOperands
}

// product is mma.sync: d = a·b + c.
func product(w *writer, s statement, parts []string) (string, error) {
	kind, ok := strings.CutPrefix(strings.Join(parts, "."), "sync.aligned.m16n8k16.row.col.f32.")
	kind, _, _ = strings.Cut(kind, ".")
	if !ok || len(s.operands) != 4 {
		return "", errOperands
	}
	text := "{ "
	for i, o := range []struct{ name, kind, element string }{{"d", "float", "f32"}, {"a", "unsigned", "u32"}, {"b", "unsigned", "u32"}} {
		from, _ := vector(s.operands[[]int{3, 1, 2}[i]])
		var all []string
		for _, r := range from {
			v, err := w.value(r, o.element)
			if err != nil {
				return "", err
			}
			all = append(all, v)
		}
		text += fmt.Sprintf("%s %s[%d] = {%s}; ", o.kind, o.name, []int{4, 4, 2}[i], strings.Join(all, ", "))
	}
	text += fmt.Sprintf("mma_m16n8k16_%s(d, a, b); ", kind)
	to, _ := vector(s.operands[0])
	for i, r := range to {
		text += fmt.Sprintf("put(%s, d[%d]); ", register(r), i)
	}
	return text + "}", nil
}

// matrix is ldmatrix.sync.aligned.m8n8.x4.shared.b16 {…}, [row].
func matrix(w *writer, s statement, parts []string) (string, error) {
	if len(s.operands) != 2 {
		return "", errOperands
	}
	to, _ := vector(s.operands[0])
	name := fmt.Sprintf("ldmatrix_x%d", len(to))
	switch rest, _ := strings.CutPrefix(strings.Join(parts, "."), fmt.Sprintf("sync.aligned.m8n8.x%d.", len(to))); rest {
	case "trans.shared.b16":
		name += "_trans"
	case "shared.b16":
	default:
		return "", errOperands
	}
	at, err := w.address("shared", s.operands[1])
	text := fmt.Sprintf("{ unsigned m[%d]; %s(m, reinterpret_cast<const void*>(%s)); ", len(to), name, at)
	for i, r := range to {
		text += fmt.Sprintf("put(%s, m[%d]); ", register(r), i)
	}
	return text + "}", err
}

func branch(_ *writer, s statement, parts []string) (string, error) {
	if len(s.operands) != 1 || len(parts) > 1 || len(parts) == 1 && parts[0] != "uni" {
		return "", errOperands
	}
	return "goto " + label(s.operands[0]) + ";", nil
}

func leave(_ *writer, s statement, parts []string) (string, error) {
	if len(s.operands)+len(parts) > 0 {
		return "", errOperands
	}
	return "return;", nil
}

// call is call.uni (result), function, (a, b); the parts in parentheses may be missing.
func call(w *writer, s statement, _ []string) (string, error) {
	result, name, args := "nullptr", "", []string{}
	for _, o := range s.operands {
		inside, list := strings.CutPrefix(o, "(")
		if !list {
			name = o
			continue
		}
		for one := range strings.SplitSeq(strings.TrimSuffix(inside, ")"), ",") {
			switch one = strings.TrimSpace(one); {
			case one == "":
			case name == "":
				result = variableName(one)
			default:
				args = append(args, variableName(one))
			}
		}
	}
	if !w.functions[name] {
		return "", fmt.Errorf("no function of that name is in the module")
	}
	return fmt.Sprintf("{ unsigned char* args[] = {%s}; %s(%s, args); }", strings.Join(append(args, "nullptr"), ", "), functionName(name), result), nil
}
