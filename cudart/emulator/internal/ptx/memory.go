package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// An access is what ld, st and atom say of themselves: "global.v4.f32".
type access struct {
	space string // "" of a pointer to any
	kind  string
	count int // of elements
	rest  []string
}

func readAccess(parts []string) (access, error) {
	a := access{count: 1, kind: parts[len(parts)-1]}
	for _, p := range parts[:len(parts)-1] {
		switch p {
		case "global", "shared", "local", "param", "const":
			a.space = p
		case "v2":
			a.count = 2
		case "v4":
			a.count = 4
		case "nc", "cs", "volatile", "relaxed", "gpu":
		default:
			a.rest = append(a.rest, p)
		}
	}
	if types[a.kind] == 0 {
		return a, fmt.Errorf("a type that is not known here")
	}
	return a, nil
}

// place is the pointer to an operand "[%rd1+8]" that an access reads or writes.
func (w *writer) place(a access, operand string) (string, error) {
	at, err := w.address(a.space, operand)
	return fmt.Sprintf("place<%d>(%s)", types[a.kind]*a.count, at), err
}

// address is the number of a pointer.
func (w *writer) address(space, operand string) (string, error) {
	if len(operand) < 3 || operand[0] != '[' || operand[len(operand)-1] != ']' {
		return "", fmt.Errorf("%s is no address", operand)
	}
	base, offset, plus := strings.Cut(operand[1:len(operand)-1], "+")
	at, wide := "", strings.TrimSpace(base)
	switch {
	case strings.HasPrefix(wide, "%") && w.kinds[wide] == "b32": // of shared memory
		at = "u64(" + register(wide) + ")"
	case strings.HasPrefix(wide, "%"):
		at = w.read(wide, "u64")
	default:
		symbol, err := w.symbol(wide)
		if err != nil {
			return "", err
		}
		at = symbol
	}
	if plus {
		n, err := strconv.ParseInt(strings.TrimSpace(offset), 0, 64)
		if err != nil {
			return "", fmt.Errorf("%s is no address: %w", operand, err)
		}
		at = fmt.Sprintf("(%s + %dull)", at, uint64(n))
	}
	if space == "shared" {
		at = "SHARED(" + at + ")"
	}
	return at, nil
}

func load(w *writer, s statement, parts []string) (string, error) {
	a, err := readAccess(parts)
	if err != nil {
		return "", err
	}
	if len(s.operands) != 2 || len(a.rest) > 0 {
		return "", errOperands
	}
	to := []string{s.operands[0]}
	if v, ok := vector(to[0]); ok {
		to = v
	}
	at, err := w.place(a, s.operands[1])
	if err != nil || len(to) != a.count {
		return "", fmt.Errorf("%w %w", errOperands, err)
	}
	if len(to) == 1 && w.fills(to[0], a.kind) {
		return fmt.Sprintf("%s = *reinterpret_cast<const %s*>(%s);", register(to[0]), a.kind, at), nil
	}
	text := fmt.Sprintf("{ const unsigned char* at = %s; ", at)
	for i, r := range to {
		text += w.assign(r, a.kind, fmt.Sprintf("*reinterpret_cast<const %s*>(at + %d)", a.kind, i*types[a.kind])) + " "
	}
	return text + "}", nil
}

func store(w *writer, s statement, parts []string) (string, error) {
	a, err := readAccess(parts)
	if err != nil {
		return "", err
	}
	if len(s.operands) != 2 || len(a.rest) > 0 {
		return "", errOperands
	}
	from := []string{s.operands[1]}
	if v, ok := vector(from[0]); ok {
		from = v
	}
	at, err := w.place(a, s.operands[0])
	if err != nil || len(from) != a.count {
		return "", fmt.Errorf("%w %w", errOperands, err)
	}
	if len(from) == 1 {
		v, err := w.value(from[0], a.kind)
		return fmt.Sprintf("*reinterpret_cast<%s*>(%s) = %s;", a.kind, at, v), err
	}
	text := fmt.Sprintf("{ unsigned char* at = %s; ", at)
	for i, r := range from {
		v, err := w.value(r, a.kind)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("*reinterpret_cast<%s*>(at + %d) = %s; ", a.kind, i*types[a.kind], v)
	}
	return text + "}", nil
}

// atomic is atom.global.add.u32 d, [a], b; cas has two values.
func atomic(w *writer, s statement, parts []string) (string, error) {
	a, err := readAccess(parts)
	if err != nil {
		return "", err
	}
	if len(a.rest) != 1 || len(s.operands) < 3 {
		return "", errOperands
	}
	at, err := w.place(a, s.operands[1])
	if err != nil {
		return "", err
	}
	args := []string{at}
	for _, o := range s.operands[2:] {
		v, err := w.value(o, a.kind)
		if err != nil {
			return "", err
		}
		args = append(args, v)
	}
	return fmt.Sprintf("put(%s, atom_%s<%s>(%s));", register(s.operands[0]), a.rest[0], a.kind, strings.Join(args, ", ")), nil
}

// convertAddress is cvta: pointers to all spaces but shared memory are the addresses themselves.
func convertAddress(w *writer, s statement, parts []string) (string, error) {
	if len(s.operands) != 2 {
		return "", errOperands
	}
	v, err := w.value(s.operands[1], "u64")
	switch strings.Join(parts, ".") {
	case "to.shared.u64":
		v = "TO_SHARED(" + v + ")"
	case "shared.u64":
		v = "SHARED(" + v + ")"
	case "to.global.u64", "global.u64", "to.local.u64", "local.u64":
	default:
		return "", errOperands
	}
	return fmt.Sprintf("put(%s, %s);", register(s.operands[0]), v), err
}

// copyAsync is cp.async and the two that wait for it.
func copyAsync(w *writer, s statement, parts []string) (string, error) {
	switch strings.Join(parts, ".") {
	case "async.commit_group":
		return "emu::asyncCommit();", nil
	case "async.wait_group":
		if len(s.operands) == 1 {
			return fmt.Sprintf("emu::asyncWait(%s);", s.operands[0]), nil
		}
	case "async.cg.shared.global", "async.ca.shared.global":
		if len(s.operands) < 3 {
			break
		}
		to, err := w.address("shared", s.operands[0])
		if err != nil {
			return "", err
		}
		from, err := w.address("global", s.operands[1])
		if err != nil {
			return "", err
		}
		bytes := s.operands[2]
		if len(s.operands) == 4 {
			if bytes, err = w.value(s.operands[3], "s32"); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("emu::asyncCopy(reinterpret_cast<void*>(%s), reinterpret_cast<const void*>(%s), %s, %s);", to, from, bytes, s.operands[2]), nil
	}
	return "", errOperands
}
