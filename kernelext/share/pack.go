package share

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/halftone-ml/halftone/widgets"
)

//go:embed context/Dockerfile
var dockerfile []byte

//go:embed context/README.md
var readme string

// PackOptions say what is packed, and where.
type PackOptions struct {
	Output string   // the folder that is made
	Native bool     // compute with this machine's fastest kernels rather than the reproducible ones
	Data   []string // files that cells read, besides those that they name in a string
}

// Pack executes a notebook, and makes a folder of it, its data and the record of its results: a build context for Docker as well.
// The notes say what a reader should know, such as that no cell sets a seed.
func Pack(ctx context.Context, path string, o PackOptions, here Versions, run Execute) (rec *Record, notes []string, err error) {
	if err := unused(&o.Output); err != nil {
		return nil, nil, err
	}
	nb, err := readNotebook(path)
	if err != nil {
		return nil, nil, err
	}
	dir := filepath.Dir(path)
	data, notes, err := gather(ctx, nb, dir, o.Data)
	if err != nil {
		return nil, nil, err
	}
	rec = &Record{Schema: Schema, Notebook: filepath.Base(path), Cells: nb.hash(), Made: here, Settings: settings(os.Environ()), Seeds: nb.seeds(), Data: data}
	var env []string
	if !o.Native {
		rec.Made.Kernels = Reproducible
		delete(rec.Settings, "HALFTONE_CPU")
		env = append(env, "HALFTONE_CPU="+Reproducible)
	}
	tmp, drop, err := halfDone(o.Output)
	if err != nil {
		return nil, nil, err
	}
	defer drop()
	for _, f := range data { // as the cells find it: they may write the file as well
		if err := copyFile(filepath.Join(dir, filepath.FromSlash(f.Path)), filepath.Join(tmp, filepath.FromSlash(f.Path))); err != nil {
			return nil, nil, err
		}
	}
	executed := filepath.Join(tmp, rec.Notebook)
	abs, err := filepath.Abs(executed)
	if err != nil {
		return nil, nil, err
	}
	if err := run(ctx, path, abs, env); err != nil {
		return nil, nil, err
	}
	saved, err := widgets.LoadSaved(executed)
	if err != nil {
		return nil, nil, err
	}
	if len(saved) == 0 {
		return nil, nil, fmt.Errorf("%s shows no figures, so there would be nothing to compare: end a cell with widgets.Show(…)", path)
	}
	rec.Figures = expected(saved)
	if len(rec.Seeds) == 0 {
		notes = append(notes, "no cell sets a seed: results that depend on random numbers will be others each time")
	}
	if err := rec.Save(tmp); err != nil {
		return nil, nil, err
	}
	text := strings.NewReplacer("{{notebook}}", rec.Notebook, "{{commit}}", orUnknown(here.Commit)).Replace(readme)
	for name, content := range map[string][]byte{"Dockerfile": dockerfile, "README.md": []byte(text)} {
		if err := os.WriteFile(filepath.Join(tmp, name), content, 0o644); err != nil {
			return nil, nil, err
		}
	}
	return rec, notes, name(tmp, o.Output)
}

// unused checks that a folder can be made, or is there and empty. A link to such a folder stays one.
func unused(output *string) error {
	info, err := os.Stat(*output)
	if err != nil {
		return nil // what else is wrong with the name is said when the folder is made
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a file, and a folder is to be made: name another one with --output", *output)
	}
	if entries, err := os.ReadDir(*output); err != nil || len(entries) > 0 {
		return fmt.Errorf("%s is there and not empty: remove it, or name another folder with --output", *output)
	}
	*output, err = filepath.EvalSymlinks(*output)
	return err
}

// halfDone makes a folder beside the one that was asked for: what is half done never has that name, and nobody else has this one.
func halfDone(output string) (dir string, drop func(), err error) {
	output = filepath.Clean(output)
	base, around := filepath.Base(output), filepath.Dir(output)
	if err = os.MkdirAll(around, 0o755); err == nil {
		dir, err = os.MkdirTemp(around, base+".*.new")
	}
	if err != nil {
		return "", nil, fmt.Errorf("%w: name a folder that can be made with --output", err)
	}
	drop = func() { _ = os.RemoveAll(filepath.Dir(dir)) }
	dir = filepath.Join(dir, base) // the one around is for nobody else to read
	if err = os.Mkdir(dir, 0o755); err != nil {
		drop()
	}
	return dir, drop, err
}

// name gives a finished folder the name that was asked for, unless that was taken meanwhile.
func name(dir, output string) error {
	_ = syscall.Rmdir(output) // an empty one
	if err := os.Rename(dir, output); err != nil {
		return fmt.Errorf("%s has been made meanwhile, or cannot be: %w; name another folder with --output", output, err)
	}
	return nil
}

// gather describes the data: files that cells name, and those asked for.
func gather(ctx context.Context, nb *notebook, dir string, asked []string) (data []File, notes []string, err error) {
	inside, outside := nb.files(dir)
	for _, name := range asked {
		rel := name
		if filepath.IsAbs(name) {
			base, err := filepath.Abs(dir)
			if err != nil {
				return nil, nil, err
			}
			if rel, err = filepath.Rel(base, name); err != nil {
				return nil, nil, err
			}
		}
		if !filepath.IsLocal(rel) {
			return nil, nil, fmt.Errorf("--data %s is not below the notebook's folder: copy it there, and let the cells read it from there", name)
		}
		if rel = filepath.Clean(rel); !slices.Contains(inside, rel) {
			inside = append(inside, rel)
		}
	}
	for _, name := range outside {
		notes = append(notes, fmt.Sprintf("%s is not below the notebook's folder and was not packed: copy it there, and let the cells read it from there", name))
	}
	for _, name := range inside {
		if slices.Contains([]string{RecordName, "Dockerfile", "README.md"}, filepath.ToSlash(name)) {
			return nil, nil, fmt.Errorf("the cells read %s, which is the name of a file of the package: call it otherwise", name)
		}
		f, err := describe(ctx, dir, name)
		if err != nil {
			return nil, nil, fmt.Errorf("packing the data: %w", err)
		}
		data = append(data, f)
	}
	return data, notes, nil
}

// ours are variables that say where things are, and not how cells compute.
var ours = []string{"HALFTONE_HOME", "HALFTONE_COMMIT", "HALFTONE_CUDA_PATH", "HALFTONE_AUTO_CGO", "HALFTONE_BENCH_PYTHON", "HALFTONE_USER",
	"HALFTONE_PORT", "HALFTONE_IMAGE"}

// settings are the HALFTONE_… variables that cells see.
func settings(environ []string) map[string]string {
	found := map[string]string{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if isSetting(name) {
			found[name] = value
		}
	}
	return found
}

var settingName = regexp.MustCompile(`^HALFTONE_[A-Z0-9_]+$`)

// isSetting tells a variable that a record may set: whoever made it must not be able to change anything else of the machine that verifies it.
func isSetting(name string) bool {
	return settingName.MatchString(name) && !slices.Contains(ours, name)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
