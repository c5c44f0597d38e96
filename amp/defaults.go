package amp

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// DefaultsEnv names the variable by which a notebook kernel tells a cell's process the file that holds its [Defaults].
const DefaultsEnv = "HALFTONE_DEFAULTS"

// DefaultsSchema is the first line of such a file; readers refuse what they do not know.
const DefaultsSchema = "halftone.defaults/1"

// Defaults are settings made outside the program, as a notebook's %amp does: what NewScope and NewGradScaler take where the
// program says nothing. An option in the program always wins. The zero value of a field sets nothing.
type Defaults struct {
	Source   string            // who made them, e.g. "%amp": traces and histories say so
	Device   string            // as for SetDefaultDevice
	Trace    string            // as for Record: "off", "decisions" or "health"
	Every    int               // as for HealthEvery
	Force    map[string]string // as for Force: names of ops to names of classes
	Scale    float64           // as for InitScale
	Interval int               // as for GrowthInterval
	MinScale float64           // as for the option MinScale
}

// ParseLevel returns the recorder's level of a name.
func ParseLevel(name string) (Level, error) {
	if i := slices.Index(levelNames[:], name); i >= 0 {
		return Level(i), nil
	}
	return Off, fmt.Errorf("amp: unknown trace level %q; use off, decisions or health", name)
}

// ParseClass returns the autocast class of a name, as Class.String gives it.
func ParseClass(name string) (Class, error) {
	if i := slices.Index(classNames[:], name); i >= 0 {
		return Class(i), nil
	}
	return Unlisted, fmt.Errorf("amp: unknown class %q; use %s", name, strings.Join(classNames[:], ", "))
}

// MarshalText writes a line for the schema and one for each setting: "trace health", "force gelu fp32". Every cell reads it, so it is
// a form that takes no JSON reader, which would be a tenth of a small program.
func (d Defaults) MarshalText() ([]byte, error) {
	lines := []string{DefaultsSchema}
	add := func(field, value string) {
		if value != "" && value != "0" {
			lines = append(lines, field+" "+value)
		}
	}
	add("source", d.Source)
	add("device", d.Device)
	add("trace", d.Trace)
	add("every", strconv.Itoa(d.Every))
	for _, op := range slices.Sorted(maps.Keys(d.Force)) {
		add("force", op+" "+d.Force[op])
	}
	add("scale", strconv.FormatFloat(d.Scale, 'g', -1, 64))
	add("interval", strconv.Itoa(d.Interval))
	add("min_scale", strconv.FormatFloat(d.MinScale, 'g', -1, 64))
	return []byte(strings.Join(lines, "\n") + "\n"), nil
}

// UnmarshalText reads what MarshalText wrote; an error names the field.
func (d *Defaults) UnmarshalText(b []byte) error {
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	if lines[0] != DefaultsSchema {
		return fmt.Errorf("line 1: the schema is %q, this version reads %q", lines[0], DefaultsSchema)
	}
	*d = Defaults{}
	for i, line := range lines[1:] {
		field, value, _ := strings.Cut(line, " ")
		if err := d.set(field, value); err != nil {
			return fmt.Errorf("line %d: field %s: %w", i+2, field, err)
		}
	}
	return d.check()
}

func (d *Defaults) set(field, value string) (err error) {
	switch field {
	case "source":
		d.Source = value
	case "device":
		d.Device = value
	case "trace":
		d.Trace = value
	case "every":
		d.Every, err = strconv.Atoi(value)
	case "force":
		op, class, _ := strings.Cut(value, " ")
		if d.Force == nil {
			d.Force = map[string]string{}
		}
		d.Force[op] = class
	case "scale":
		d.Scale, err = strconv.ParseFloat(value, 64)
	case "interval":
		d.Interval, err = strconv.Atoi(value)
	case "min_scale":
		d.MinScale, err = strconv.ParseFloat(value, 64)
	default:
		err = errors.New("not known")
	}
	return err
}

// ReadDefaults reads a file of Defaults. A file that does not exist sets nothing; an error names the file and the field.
func ReadDefaults(file string) (Defaults, error) {
	var d Defaults
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = d.UnmarshalText(b)
	}
	if err != nil {
		return Defaults{}, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

// check returns an error that names the first field that cannot be.
func (d *Defaults) check() error {
	if d.Trace != "" {
		if _, err := ParseLevel(d.Trace); err != nil {
			return fmt.Errorf("field trace: %w", err)
		}
	}
	if d.Every < 0 || d.Interval < 0 {
		return fmt.Errorf("fields every and interval: %d and %d, they count steps", d.Every, d.Interval)
	}
	for _, v := range []float64{d.Scale, d.MinScale} {
		if v < 0 || !finite(float64(float32(v))) {
			return fmt.Errorf("fields scale and min_scale: %v and %v, scales are positive float32 numbers", d.Scale, d.MinScale)
		}
	}
	for _, op := range slices.Sorted(maps.Keys(d.Force)) {
		class, err := ParseClass(d.Force[op])
		if err == nil {
			err = Maybe(func() { Force(op, class) })
		}
		if err != nil {
			return fmt.Errorf("field force: %s: %w", op, err)
		}
	}
	return nil
}

// defaults are those of this process, read once; none unless the variable is set.
var defaults = sync.OnceValues(func() (Defaults, error) {
	if file := os.Getenv(DefaultsEnv); file != "" {
		return ReadDefaults(file)
	}
	return Defaults{}, nil
})

// settings returns the process's defaults, for the function of the given name.
func settings(caller string) Defaults {
	d, err := defaults()
	if err != nil {
		fail(caller, ErrArgument, "set them again with %amp in a notebook, or unset "+DefaultsEnv, "%v", err)
	}
	return d
}

// chosen opens the default device of a program that names none, and returns what to tell the reader about it.
var chosen = sync.OnceValues(func() (Device, string) {
	if d := settings("SetDefaultDevice"); d.Device != "" {
		return mustOpen("SetDefaultDevice", d.Device)
	}
	return theCPU, ""
})

// complete fills in what the options of NewScope left open and returns the forced classes and what has been set.
func (d Defaults) complete(c *config) (force map[string]Class, set []string) {
	if !c.levelSet && d.Trace != "" {
		c.level, _ = ParseLevel(d.Trace) // checked when it was read
		text := "trace " + d.Trace
		if c.every == 0 && d.Every > 0 {
			c.every = d.Every
			text += fmt.Sprintf(" every %d steps", d.Every)
		}
		set = append(set, text)
	}
	for _, op := range slices.Sorted(maps.Keys(d.Force)) {
		if force == nil {
			force = map[string]Class{}
		}
		force[op], _ = ParseClass(d.Force[op])
		set = append(set, fmt.Sprintf("%s forced to %s", op, d.Force[op]))
	}
	return force, set
}

// note says who made the settings that took effect; "" for none.
func (d Defaults) note(set []string) string {
	if len(set) == 0 {
		return ""
	}
	by := d.Source
	if by == "" {
		by = DefaultsEnv
	}
	return "set by " + by + ": " + strings.Join(set, ", ")
}

// completeScaler fills in what the options of NewGradScaler left open.
func (d Defaults) completeScaler(g *GradScaler) {
	var set []string
	pick := func(dst *float64, byOption bool, given, standard float64, name string) {
		switch {
		case byOption:
		case given > 0:
			*dst = given
			set = append(set, fmt.Sprintf("%s %g", name, given))
		default:
			*dst = standard
		}
	}
	pick(&g.init, g.given.init, d.Scale, DefaultInitScale, "first scale")
	pick(&g.floor, g.given.floor, d.MinScale, 0, "smallest scale")
	if !g.given.interval {
		g.interval = 2000
		if d.Interval > 0 {
			g.interval = d.Interval
			set = append(set, fmt.Sprintf("growth interval %d", d.Interval))
		}
	}
	g.note = d.note(set)
}
