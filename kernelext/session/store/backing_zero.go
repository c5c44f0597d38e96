package store

import "os"

// writeZeros reserves by writing, where the file system knows no other way.
func writeZeros(f *os.File, off, size int64) error {
	zeros := make([]byte, min(size, 1<<20))
	for end := off + size; off < end; {
		n, err := f.WriteAt(zeros[:min(int64(len(zeros)), end-off)], off)
		if err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}
