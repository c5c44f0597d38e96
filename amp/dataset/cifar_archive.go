package dataset

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
)

// openArchive reads the archive as it is published, without unpacking it to disk.
func (r *reading) openArchive(file string) (loadFunc, error) {
	f, bytes, err := open(file, cifarGet)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	d := r.digest(filepath.Base(file), bytes)
	if d != nil {
		in = io.TeeReader(f, d)
	}
	members, err := readArchive(file, in)
	if d != nil && (err == nil || isContent(err)) {
		// The rest counts for the checksum, which says more than where the damage was noticed.
		if _, copyErr := io.Copy(io.Discard, in); copyErr != nil {
			return nil, &FileError{File: file, Kind: copyErr, Fix: "make it readable"}
		}
	}
	if err == nil || d != nil && isContent(err) {
		if sumErr := r.finish(file, bytes, d); sumErr != nil {
			return nil, sumErr
		}
	}
	if err != nil {
		return nil, err
	}
	if d != nil && d.how == Official {
		r.official = nil // the archive vouches for what is in it
	}
	held := len(members)
	return func(name string) ([]byte, string, error) {
		data, ok := members[name]
		where := filepath.Join(file, name)
		if !ok {
			return nil, where, &FileError{File: where, Kind: fs.ErrNotExist, Want: "it in the archive", Found: fmt.Sprintf("%d of the 7 files", held), Fix: cifarGet}
		}
		delete(members, name) // each is taken once, and memory is short
		return data, where, nil
	}, nil
}

// readArchive returns the files of the set from a .tar.gz stream. Other members are skipped; members grow in memory as they
// arrive, up to a bound for all of them.
func readArchive(file string, in io.Reader) (map[string][]byte, error) {
	damaged := func(err error) error {
		return &FileError{File: file, Kind: blame(err), Want: "a whole .tar.gz archive", Found: err.Error(), Fix: "download it again"}
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, damaged(err)
	}
	members, left := map[string][]byte{}, int64(maxFile)
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, damaged(err)
		}
		name := path.Base(h.Name)
		if h.Typeflag != tar.TypeReg || name != cifarMeta && !slices.Contains(cifarTrain, name) && !slices.Contains(cifarTest, name) {
			continue
		}
		if members[name] != nil || h.Size > left {
			return nil, &FileError{File: file, Kind: ErrFormat, Want: "each file once, and not more than they are", Found: fmt.Sprintf("%s of %s", name, count(h.Size)), Fix: "download it again"}
		}
		data, err := readExactly(t, h.Size)
		if err != nil {
			return nil, damaged(err)
		}
		members[name] = data
		left -= h.Size
	}
	if _, err := io.Copy(io.Discard, z); err != nil { // gzip checks its own sum at the end
		return nil, damaged(err)
	}
	return members, nil
}
