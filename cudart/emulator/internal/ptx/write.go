package ptx

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// A writer writes a module.
type writer struct {
	b         strings.Builder
	functions map[string]bool
	symbols   map[string]string   // C++ of the addresses of variables, the module's and the function's
	kinds     map[string]string   // of the registers that can be seen: "b32"
	outer     []map[string]string // for each open brace, the kinds of those that are hidden since
	unwritten map[string]bool     // those that may be read before they are written
	shared    int                 // bytes of static shared memory so far
}

// Cpp returns a module of PTX as C++ that ends in the table of its kernels, and their names: none for a module without.
func Cpp(text string) (cpp string, kernels []string, err error) {
	m, err := parse(text)
	if err != nil {
		return "", nil, err
	}
	w := &writer{functions: map[string]bool{}, symbols: map[string]string{}}
	w.b.WriteString("#include \"kernel.h\"\n#include \"ptx.h\"\nnamespace {\nusing namespace ptx;\n")
	if err := w.variables(m); err != nil {
		return "", nil, err
	}
	for _, f := range m.functions {
		if !w.functions[f.name] {
			fmt.Fprintf(&w.b, "void %s(unsigned char*, unsigned char**);\n", functionName(f.name))
		}
		w.functions[f.name] = true
	}
	var table strings.Builder
	for _, f := range m.functions {
		if f.body == nil {
			continue
		}
		if err := w.function(f); err != nil {
			return "", nil, fmt.Errorf("ptx: %s: %w", f.name, err)
		}
		if f.entry {
			kernels = append(kernels, f.name)
			w.entry(f, &table)
		}
	}
	if len(kernels) == 0 {
		return "", nil, nil
	}
	fmt.Fprintf(&w.b, "const emu::Kernel kernels[] = {\n%s};\nemu::Table table{kernels, %d, nullptr};\nconst bool added = (emu::addTable(&table), true);\n}\n", table.String(), len(kernels))
	return w.b.String(), kernels, nil
}

// variables writes the module's, and lays out static shared memory, that of functions too.
func (w *writer) variables(m *module) error {
	all := m.variables
	for _, f := range m.functions {
		for _, v := range f.locals {
			if v.space == "shared" {
				all = append(all, v)
			}
		}
	}
	for _, v := range all {
		switch {
		case v.space == "shared" && v.bytes == 0: // what the launch gives
			w.symbols[v.name] = "u64(0)"
		case v.space == "shared":
			w.shared = (w.shared + v.align - 1) / v.align * v.align
			w.symbols[v.name] = fmt.Sprintf("(ptx::statics + %d)", w.shared)
			w.shared += v.bytes
		case v.space == "global" && len(v.init) > 0:
			fmt.Fprintf(&w.b, "alignas(%d) const u%d %s[%d] = {%s};\n", v.align, 8*v.width, variableName(v.name), v.bytes/v.width, strings.Join(v.init, ", "))
			w.symbols[v.name] = "reinterpret_cast<u64>(" + variableName(v.name) + ")"
		default:
			return fmt.Errorf("ptx: variable %s: such ones are not known here", v.name)
		}
	}
	fmt.Fprintf(&w.b, "alignas(16) thread_local unsigned char own[%d];\n#define SHARED(a) ptx::shared(own, sizeof own, a)\n#define TO_SHARED(a) ptx::to_shared(own, sizeof own, a)\n", max(w.shared, 1))
	return nil
}

// entry writes the function that the emulator calls, and its row of the table.
func (w *writer) entry(f *function, table *strings.Builder) {
	var sizes []string
	for _, p := range f.params {
		sizes = append(sizes, strconv.Itoa(p.bytes))
	}
	name := functionName(f.name)
	fmt.Fprintf(&w.b, "const unsigned sizes_%s[] = {%s};\nvoid enter_%s(void** params) { %s(nullptr, reinterpret_cast<unsigned char**>(params)); }\n",
		name, strings.Join(append(sizes, "0"), ", "), name, name)
	fmt.Fprintf(table, "  {%q, enter_%s, sizes_%s, %d, %d},\n", f.name, name, name, len(f.params), f.threads)
}

func (w *writer) function(f *function) error {
	outer := w.symbols
	w.symbols, w.kinds = map[string]string{}, map[string]string{}
	defer func() { w.symbols = outer }()
	for name, at := range outer {
		w.symbols[name] = at
	}
	fmt.Fprintf(&w.b, "void %s(unsigned char* result, unsigned char** args) {\n", functionName(f.name))
	for i, p := range f.params {
		w.symbols[p.name] = fmt.Sprintf("reinterpret_cast<u64>(args[%d])", i)
	}
	if f.returns != "" {
		w.symbols[f.returns] = "reinterpret_cast<u64>(result)"
	}
	w.unwritten = readUnwritten(f.body)
	w.b.WriteString("bool carried = false; (void)carried;\n")
	for _, r := range f.registers {
		if err := w.registers(r); err != nil {
			return err
		}
	}
	for _, v := range f.locals {
		if v.space == "local" {
			w.array(v)
		}
	}
	for _, s := range f.body {
		if err := w.statement(s); err != nil {
			return err
		}
	}
	w.b.WriteString("}\n")
	return nil
}

func (w *writer) array(v variable) {
	fmt.Fprintf(&w.b, "alignas(16) unsigned char %s[%d];\n", variableName(v.name), v.bytes)
	w.symbols[v.name] = "reinterpret_cast<u64>(" + variableName(v.name) + ")"
}

func (w *writer) statement(s statement) error {
	switch d := s.declared.(type) {
	case registers:
		return w.registers(d)
	case variable:
		w.array(d)
		return nil
	}
	switch s.opcode {
	case "{": // registers in there may hide others
		w.outer = append(w.outer, map[string]string{})
		w.b.WriteString("{\n")
	case "}":
		if len(w.outer) == 0 {
			return fmt.Errorf("a } too many")
		}
		last := len(w.outer) - 1
		maps.Copy(w.kinds, w.outer[last])
		w.outer = w.outer[:last]
		w.b.WriteString("}\n")
	case "label":
		w.b.WriteString(label(s.operands[0]) + ":;\n")
	default:
		text, err := w.instruction(s)
		if err != nil {
			return err
		}
		w.b.WriteString(text + "\n")
	}
	return nil
}

// specials are the registers that the device writes.
var specials = map[string]string{
	"%tid.x": "threadIdx.x", "%tid.y": "threadIdx.y", "%tid.z": "threadIdx.z", "%ntid.x": "blockDim.x", "%ntid.y": "blockDim.y", "%ntid.z": "blockDim.z",
	"%ctaid.x": "blockIdx.x", "%ctaid.y": "blockIdx.y", "%ctaid.z": "blockIdx.z", "%nctaid.x": "gridDim.x", "%nctaid.y": "gridDim.y", "%nctaid.z": "gridDim.z",
	"%laneid": "static_cast<u32>(emu::lane())",
}

// value is an operand that is read as a type: a register, a literal or the address of a variable.
func (w *writer) value(operand, kind string) (string, error) {
	if text := literal(operand, kind); text != "" {
		return text, nil
	}
	switch {
	case specials[operand] != "":
		return fmt.Sprintf("get<%s>(%s)", kind, specials[operand]), nil
	case strings.HasPrefix(operand, "%"), w.kinds[operand] != "":
		return w.read(operand, kind), nil
	case strings.HasPrefix(operand, "0f"):
		return fmt.Sprintf("get<%s>(u32(0x%s))", kind, operand[2:]), nil
	case strings.HasPrefix(operand, "0d"):
		return fmt.Sprintf("get<%s>(u64(0x%s))", kind, operand[2:]), nil
	case operand[0] == '-' || operand[0] >= '0' && operand[0] <= '9':
		if kind == "f32" || kind == "f64" {
			return "", fmt.Errorf("%s is no %s", operand, kind)
		}
		if _, err := strconv.ParseInt(operand, 0, 64); err != nil {
			if _, err := strconv.ParseUint(operand, 0, 64); err != nil {
				return "", err
			}
			return fmt.Sprintf("static_cast<%s>(%sull)", kind, operand), nil
		}
		if operand == "-9223372036854775808" {
			return fmt.Sprintf("static_cast<%s>(0x8000000000000000ull)", kind), nil
		}
		return fmt.Sprintf("static_cast<%s>(%sll)", kind, operand), nil
	}
	at, err := w.symbol(operand)
	return fmt.Sprintf("get<%s>(%s)", kind, at), err
}

// symbol is the address of a variable, "name" or "name+8".
func (w *writer) symbol(text string) (string, error) {
	name, offset, plus := strings.Cut(text, "+")
	at := w.symbols[name]
	if at == "" {
		return "", fmt.Errorf("%s is no variable of the module or function", name)
	}
	if plus {
		at = fmt.Sprintf("(%s + %s)", at, offset)
	}
	return at, nil
}

// vector splits "{a, b}".
func vector(operand string) ([]string, bool) {
	inside, ok := strings.CutPrefix(operand, "{")
	if !ok {
		return nil, false
	}
	all := strings.Split(strings.TrimSuffix(inside, "}"), ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all, true
}

// Names in C++: of every kind with a letter of its own, for a register may be called f32.
func register(name string) string     { return "r_" + strings.TrimPrefix(name, "%") }
func functionName(name string) string { return "f_" + name }
func variableName(name string) string { return "v_" + name }
func label(name string) string        { return strings.TrimPrefix(name, "$") }
