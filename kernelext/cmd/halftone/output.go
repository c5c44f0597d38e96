package main

import (
	"fmt"
	"os"
)

// stdout is standard output for what commands print. It keeps the first error, so that a full disk is an exit code and not the end of a
// file that looks whole.
var stdout = &checked{}

type checked struct{ err error }

func (o *checked) Write(p []byte) (int, error) {
	n, err := os.Stdout.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// fault returns what has gone wrong since it was asked last.
func (o *checked) fault() error {
	err := o.err
	o.err = nil
	if err != nil {
		return fmt.Errorf("what it printed is not whole: %w; make room, or print elsewhere", err)
	}
	return nil
}
