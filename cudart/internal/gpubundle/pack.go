package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// The programs of a bundle have most of their bytes in common: the runtime, package amp, the compiled kernels. A packer that looks back
// over all of them packs these once, and the bundle is a third of what it is with gzip, which looks back 32 KB.

// A packer compresses a tar file.
type packer struct {
	suffix  string
	command []string // nil: gzip, of Go itself
}

// packers are the ways to do it, the best first; the last is always there.
var packers = []packer{
	{".tar.xz", []string{"xz", "--lzma2=preset=2,dict=128MiB", "-T1", "-c"}},
	{".tar.xz", []string{"python3", "-c", `import lzma, sys
f = lzma.open(sys.stdout.buffer, "wb", filters=[{"id": lzma.FILTER_LZMA2, "preset": 2, "dict_size": 128 << 20}])
while b := sys.stdin.buffer.read(1 << 20):
    f.write(b)
f.close()`}},
	{".tar.gz", nil},
}

// there says whether it can be used here.
func (p packer) there() bool {
	if p.command == nil {
		return true
	}
	_, err := exec.LookPath(p.command[0])
	return err == nil
}

// pack returns what compresses to a file; closing it says whether that went well.
func (p packer) pack(ctx context.Context, to io.Writer) (io.WriteCloser, error) {
	if p.command == nil {
		return gzip.NewWriterLevel(to, gzip.BestCompression)
	}
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	z := &packing{cmd: cmd}
	cmd.Stdout, cmd.Stderr = to, &z.said
	var err error
	if z.WriteCloser, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	return z, err
}

// packing is a program that compresses.
type packing struct {
	io.WriteCloser // its input
	cmd            *exec.Cmd
	said           bytes.Buffer
}

// Write says why the program has ended, if it has.
func (z *packing) Write(b []byte) (int, error) {
	n, err := z.WriteCloser.Write(b)
	if err != nil {
		err = z.wait(err)
	}
	return n, err
}

func (z *packing) Close() error { return z.wait(z.WriteCloser.Close()) }

func (z *packing) wait(err error) error {
	if e := z.cmd.Wait(); e != nil && z.cmd.ProcessState != nil && !z.cmd.ProcessState.Success() {
		err = e
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", z.cmd.Args[0], err, strings.TrimSpace(z.said.String()))
	}
	return err
}
