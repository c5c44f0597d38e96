package cheatsheet

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write notebooks/cheatsheet.md")

const sheet = "../../notebooks/cheatsheet.md"

// sections are the files with examples, in the order of the sheet, and what stands above their lines. Statements before a section's first
// line are its setup and not shown.
var sections = []struct{ file, title, text string }{
	{"tensors_test.go", "Tensors", "`s` is a scope: every op takes one first. What PyTorch keeps in the thread (autocast, grad mode, device) is in it."},
	{"autocast_test.go", "Autocast", "The lists are those of PyTorch's CUDA autocast, on every device."},
	{"scaler_test.go", "GradScaler", "The same state machine, bit for bit; a step also says what it did."},
	{"loop_test.go", "The training loop", "`half` is `s.Autocast(amp.Float16)`, `root` the scope that lives longest."},
	{"modules_test.go", "Modules, optimizers, schedules", "`net` is a module, `opt` an optimizer."},
	{"models_test.go", "Models of your own", "A model is a struct with `Children`, `Parameters` and `Forward`, as the comment of `nn.Parent` shows; the whole of this one is in [the example](../internal/cheatsheet/models_test.go)."},
	{"data_test.go", "Data; more optimizers, schedules and layers", "`p` is `net.Parameters()`. A loader's order is a function of seed and epoch, and resumes in the middle of one."},
	{"attention_test.go", "Attention, masks, sequences of different lengths", "Sequences are `[batch positions features]`. In a mask true lets a key take part: PyTorch's modules have it leave one out."},
	{"looking_test.go", "Numbers, memory, devices", "And what to look with when a run goes wrong."},
}

// A line of the sheet.
type line struct{ torch, halftone []string }

// missing is what programs of PyTorch use and Halftone has not, and what does instead.
var missing = [][2]string{
	{"`DistributedDataParallel`, `DataParallel`, `FullyShardedDataParallel`", "none: a program trains on one device, or has the layers of one model on several (`t.To(s)`). `Grad` and `SetGrad` are there for an all-reduce of your own, before `scaler.Step`"},
	{"`torch.compile`, TorchScript", "on a GPU `root.Capture` makes one launch of a whole step; on a CPU none"},
	{"in-place ops on results that want gradients: `h += x`", "refused, since gradients would be lost; use the op that returns its result: `h = amp.Add(s, h, x)`. In `s.NoGrad()` tensors may be changed in place"},
	{"`checkpoint` and `autograd.Function` with several results", "one result each: join them with `amp.Cat`, or make one op for each"},
	{"`nn.TransformerDecoder` with a cache", "none"},
	{"`optim.SparseAdam`", "none; the other optimizers of `torch.optim` are there"},
	{"closures: `opt.step(closure)`", "`LBFGS` takes one; for the others run the model before `opt.Step()`"},
	{"`ASGD`'s `eta` and NAdam's `mu_product` in a state", "worked out from the number of updates and the present settings; ASGD's `eta` is not one step behind a schedule"},
	{"`Embedding(sparse=True, scale_grad_by_freq=True)`", "none"},
	{"`collate_fn`, `batch_sampler`, `IterableDataset`", "samples have one shape, which `Spec` says, and are batched by the loader; a `Dataset` of your own has three methods"},
	{"`torch.linalg.eig`, `matrix_exp`, `ldl_factor`", "none; symmetric matrices have `amp.Eigh`"},
	{"`scatter_reduce`, `masked_scatter`, `torch.quantile(interpolation=…)`, `rounding_mode=\"trunc\"`", "none; `amp.Trunc` of a quotient is the last"},
	{"`x.reshape` and `x.flatten` that share the memory of a view with gaps; `x.view`", "`amp.Reshape` and `amp.Flatten` share memory where `x` is contiguous, else they copy: change `x` itself in place"},
	{"sparse, complex, nested and quantized tensors; float8 and float4 as dtypes", "none; `amp.FP8` and `amp.FP4` compute with their numbers and scales, kept in 16 bits; `amp.Quantize` rounds to any format, to see what is left"},
	{"`memory_format=torch.channels_last`", "images are [n c h w] always; the kernels arrange them as they need them"},
	{"`torch.distributions`", "none; `amp.Multinomial` draws classes, `amp.LogSoftmax` and `amp.Gather` give their log-probabilities"},
	{"forward mode (`torch.func.jvp`), `vmap`", "none; `amp.CreateGraph` gives gradients of any order"},
	{"`torch.save` and `torch.load` of `.pt` files", "safetensors, which Python reads and writes too (`safetensors.torch`)"},
}

// TestCheatSheet holds the sheet to the examples: it is what they say, every line is followed by something printed, and every example
// has an output to hold it to.
func TestCheatSheet(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Cheat sheet: PyTorch ↔ Halftone\n\n" +
		"Every line is part of a [tested example](../internal/cheatsheet); `go test ./internal/cheatsheet -update` writes this page from them.\n" +
		"Recipes of other frameworks: [tutorial 10](10-coming-from.ipynb).\n")
	total := 0
	for _, s := range sections {
		lines := read(t, s.file)
		total += len(lines)
		b.WriteString("\n## " + s.title + "\n\n" + s.text + "\n\n| PyTorch | Halftone |\n|---|---|\n")
		for _, l := range lines {
			b.WriteString("| " + code(l.torch) + " | " + code(l.halftone) + " |\n")
		}
	}
	b.WriteString("\n## Not here\n\n| PyTorch | Halftone |\n|---|---|\n")
	for _, m := range missing {
		b.WriteString("| " + m[0] + " | " + m[1] + " |\n")
	}
	if total < 60 {
		t.Errorf("%d lines", total)
	}
	if *update {
		if err := os.WriteFile(sheet, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if saved, err := os.ReadFile(sheet); err != nil || string(saved) != b.String() {
		t.Errorf("%s is not what the examples say (%v); run `go test ./internal/cheatsheet -update`", sheet, err)
	}
}

// code is lines as a cell of a table.
func code(lines []string) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		// Spaces at the beginning of code spans are kept by nobody; a bar ends the cell.
		trimmed := strings.TrimLeft(l, " \t")
		indent := strings.Repeat("&nbsp;", 2*(len(l)-len(trimmed)))
		out[i] = indent + "`" + strings.ReplaceAll(trimmed, "|", `\|`) + "`"
	}
	return strings.Join(out, "<br>")
}

// read takes the lines out of a file's examples.
func read(t *testing.T, file string) (all []line) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		body := strings.Split(string(text[f.Body.Lbrace:f.Body.Rbrace]), "\n")
		lines := fromBody(t, f.Name.Name, body)
		if len(lines) == 0 || !strings.Contains(strings.Join(body, "\n"), "// Output:") {
			t.Errorf("%s has no lines, or nothing to hold them to", f.Name.Name)
		}
		all = append(all, lines...)
	}
	return all
}

// fromBody finds the lines in an example: comments that begin with torch:, the statements below, and then a print.
func fromBody(t *testing.T, name string, body []string) (all []line) {
	t.Helper()
	var now *line
	done := func(printed bool) {
		if now != nil {
			if !printed || len(now.halftone) == 0 {
				t.Errorf("%s: nothing is printed that holds %q", name, now.torch)
			}
			all = append(all, *now)
		}
		now = nil
	}
	for _, raw := range body {
		text := strings.TrimPrefix(raw, "\t")
		trimmed := strings.TrimSpace(text)
		torch, isTorch := strings.CutPrefix(trimmed, "// torch: ")
		switch {
		case isTorch && now != nil && len(now.halftone) == 0:
			now.torch = append(now.torch, torch)
		case isTorch:
			done(false)
			now = &line{torch: []string{torch}}
		case now == nil:
		case strings.HasPrefix(trimmed, "fmt.Print"):
			done(true)
		case strings.HasPrefix(trimmed, "//"), trimmed == "":
		default:
			now.halftone = append(now.halftone, strings.TrimLeft(text, "\t"))
		}
	}
	done(false)
	return all
}

// TestLines: setup and what follows a print are no part of a line.
func TestLines(t *testing.T) {
	got := fromBody(t, "f", []string{"", "\tsetup()", "\t// torch: a = 1", "\t// torch: b = 2", "\tx := f(a | b)", "\tfmt.Println(x)", "\tignored()"})
	if len(got) != 1 || strings.Join(got[0].torch, ";") != "a = 1;b = 2" || code(got[0].halftone) != "`x := f(a \\| b)`" {
		t.Errorf("%q", got)
	}
}
