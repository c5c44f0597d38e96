package emulator

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What an object is compiled from is its own file and the headers that it comes to, not all that there are: so the runtime's files, most of what
// there is to compile, are compiled once for the libraries of Halftone's kernels, of a program's own, of tests, checked or not.

var (
	quoted   = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"`)
	computed = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*[^"<\s]`) // by a macro: nobody knows what it names
)

// checkMacro is what a build is checked by; files without it are the same in every build.
const checkMacro = "HALFTONE_CHECK"

// inputs returns what a file is compiled from, itself first: also what conditions leave out. Headers that are not among the files are the
// compiler's.
func inputs(files []source, f source) []source {
	of := map[string]source{}
	for _, s := range files {
		of[s.path] = s
	}
	dir := path.Dir(filepath.ToSlash(f.path))
	all, seen := []source{f}, map[string]bool{f.path: true}
	add := func(from, name string) {
		for _, folder := range []string{from, "csrc", dir} { // as the compiler looks for it
			if s, ok := of[path.Join(folder, name)]; ok {
				if !seen[s.path] {
					seen[s.path] = true
					all = append(all, s)
				}
				return
			}
		}
	}
	if path.Ext(f.path) == ".cu" { // what unit has before it
		add(dir, "kernel.h")
		add(dir, "device.h")
	}
	if path.Ext(f.path) == ".ptx" { // what it becomes includes these, and depends on who writes it
		add(dir, "kernel.h")
		add(dir, "ptx.h")
		for _, s := range files {
			if strings.HasPrefix(s.path, translatorFolder) {
				all = append(all, s)
			}
		}
	}
	for i := 0; i < len(all); i++ {
		s := all[i]
		if computed.Match(s.data) {
			return append([]source{f}, slices.DeleteFunc(slices.Clone(files), func(s source) bool { return path.Ext(s.path) != ".h" })...)
		}
		for _, m := range quoted.FindAllSubmatch(s.data, -1) {
			add(path.Dir(s.path), string(m[1]))
		}
	}
	return all
}

// objectOf returns the options that a file is compiled with, and the name of the object of all that goes into it.
func (b *build) objectOf(files []source, f source) (options []string, name string) {
	in := inputs(files, f)
	o := b.options
	o.Checked = o.Checked && (isKernels(f.path) || slices.ContainsFunc(in, func(s source) bool { return bytes.Contains(s.data, []byte(checkMacro)) }))
	o.Sanitize = o.Sanitize && !slices.Contains(o.Unsanitized, strings.TrimSuffix(filepath.Base(f.path), filepath.Ext(f.path)))
	options = flags(o)
	if isKernels(f.path) {
		options = append(options, kernelFlags(o)...)
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%s\n%s\n%q\n", b.compiler.path, b.compiler.version, options)
	for _, s := range in {
		fmt.Fprintf(hash, "%s %d\n%s", s.path, len(s.data), s.data)
	}
	return options, hex.EncodeToString(hash.Sum(nil))[:24] + ".o"
}
