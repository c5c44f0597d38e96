// Command halftone-gpu does for the kernel what needs the driver: it reads session tensors out of a GPU's memory, and has the driver
// compile kernels ahead of the first cell. The kernel builds it when there is a GPU and runs it for a moment; its own process never opens
// a device.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "read":
		return read(args[1], args[2], args[3])
	case len(args) == 1 && args[0] == "warm":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		n, err := cudart.Warm(ctx, 0)
		if err == nil {
			fmt.Println(n)
		}
		return err
	}
	return fmt.Errorf("usage: halftone-gpu read DEVICE BYTES FILES, or halftone-gpu warm")
}

// read writes parts of shared memory to standard output: those of which standard input gives the place and the length, a line each. The
// memory's files are descriptors from 3 on.
func read(device, bytes, files string) error {
	n, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(files)
	if err != nil {
		return err
	}
	d, _, err := amp.OpenDevice(device)
	if err != nil {
		return err
	}
	sharer, ok := d.(amp.Sharer)
	if !ok {
		return fmt.Errorf("%s shares no memory", device)
	}
	var list []*os.File
	for i := range count {
		list = append(list, os.NewFile(uintptr(3+i), "shared memory"))
	}
	m, err := sharer.OpenShared(list, n)
	if err != nil {
		return err
	}
	defer m.Close()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	buf := make([]byte, 16<<20)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var at, size int64
		if _, err := fmt.Sscan(lines.Text(), &at, &size); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		for size > 0 {
			part := buf[:min(size, int64(len(buf)))]
			if err := m.Read(part, at); err != nil {
				return err
			}
			if _, err := out.Write(part); err != nil {
				return err
			}
			at, size = at+int64(len(part)), size-int64(len(part))
		}
	}
	return out.Flush()
}
