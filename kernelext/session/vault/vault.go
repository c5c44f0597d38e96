// Package vault keeps the device memory of a notebook's session, in the process of its kernel.
package vault

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/kernelext/session/internal/fds"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// A Vault is a store.Keeper in the kernel's process: open files, which is all that memory of a device needs to live. No driver is
// loaded for it.
type Vault struct {
	path    string     // of the session
	leaving sync.Mutex // see left
	mu      sync.Mutex
	held    map[uint64]*kept
}

type kept struct {
	files []*os.File
	by    any // the connection that put it, while that lives: what it has not committed yet is nobody's business
}

// New returns an empty one for the session in a file.
func New(session string) *Vault { return &Vault{path: session, held: map[uint64]*kept{}} }

// Put keeps files.
func (v *Vault) Put(handle uint64, files []*os.File) error { return v.put(handle, files, nil) }

func (v *Vault) put(handle uint64, files []*os.File, by any) error {
	own, err := fds.Again(files)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if old := v.held[handle]; old != nil {
		fds.Close(old.files)
	}
	v.held[handle] = &kept{own, by}
	return nil
}

// Get returns the files kept under a name.
func (v *Vault) Get(handle uint64) ([]*os.File, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := v.held[handle]
	if k == nil {
		return nil, fmt.Errorf("%w: the kernel has nothing under %d", store.ErrCorrupt, handle)
	}
	return fds.Again(k.files)
}

// Keep closes all but those of the names.
func (v *Vault) Keep(handles []uint64) error {
	need := map[uint64]bool{}
	for _, h := range handles {
		need[h] = true
	}
	v.retain(func(h uint64, _ *kept) bool { return need[h] })
	return nil
}

func (v *Vault) retain(need func(handle uint64, k *kept) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for h, k := range v.held {
		if !need(h, k) {
			fds.Close(k.files)
			delete(v.held, h)
		}
	}
}

// Len returns the number of allocations that are kept.
func (v *Vault) Len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.held)
}

// left is called when a process has gone, killed perhaps: what it handed over and nothing refers to is given up. One after another: what
// the session was seen to need before the next process had committed and gone must not decide on what that one handed over.
func (v *Vault) left(by any) {
	v.leaving.Lock()
	defer v.leaving.Unlock()
	needed, err := store.Handles(v.path)
	v.mu.Lock()
	for _, k := range v.held {
		if k.by == by {
			k.by = nil
		}
	}
	v.mu.Unlock()
	if err == nil {
		v.retain(func(h uint64, k *kept) bool { return k.by != nil || needed[h] })
	}
}

// answer does what a process asks for: a word and names.
func (v *Vault) answer(ask string, files []*os.File, by any) (reply string, back []*os.File) {
	words := strings.Fields(ask)
	if len(words) == 0 {
		return "it asks for nothing", nil
	}
	var names []uint64
	for _, w := range words[1:] {
		n, err := strconv.ParseUint(w, 10, 64)
		if err != nil {
			return err.Error(), nil
		}
		names = append(names, n)
	}
	var err error
	switch {
	case words[0] == "put" && len(names) == 1:
		err = v.put(names[0], files, by)
	case words[0] == "get" && len(names) == 1:
		back, err = v.Get(names[0])
	case words[0] == "keep":
		err = v.Keep(names)
	default:
		err = errors.New("it asks for " + words[0])
	}
	if err != nil {
		return err.Error(), nil
	}
	return "", back
}
