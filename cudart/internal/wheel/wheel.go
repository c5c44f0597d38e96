// Package wheel fetches what tests need of NVIDIA's Python wheels: headers and ptxas, which no package of the system has. It is for
// tests in a checkout alone.
package wheel

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Wheel is one file of a Python package, for Linux on amd64.
type Wheel struct {
	Name, Version string // "nvidia-cuda-runtime-cu12", "12.6.77"
	SHA256        string // of the file, in hex
}

// The wheels that tests use.
var (
	// CUDA12Headers has cuda.h of CUDA 12.6, under nvidia/cuda_runtime/include.
	CUDA12Headers = Wheel{"nvidia-cuda-runtime-cu12", "12.6.77", "a84d15d5e1da416dd4774cb42edf5e954a3e60cc945698dc1d5be02321c44dc8"}
	// NVRTC has the compiler of CUDA 12.4 as a library, nvidia/cuda_nvrtc/lib/libnvrtc.so.12: the smallest of its wheels.
	NVRTC = Wheel{"nvidia-cuda-nvrtc-cu12", "12.4.127", "a178759ebb095827bd30ef56598ec182b85547f1508941a3d560eb7ea1fbf338"}
	// PTXAS has the assembler of CUDA 12.9, nvidia/cuda_nvcc/bin/ptxas: the last one that knows sm_70.
	PTXAS = Wheel{"nvidia-cuda-nvcc-cu12", "12.9.86", "5d6a0d32fdc7ea39917c20065614ae93add6f577d840233237ff08e9a38f58f0"}
)

// Fetch returns the folder of an unpacked wheel, downloaded the first time. It needs Python 3 and, that time, a network.
func Fetch(ctx context.Context, w Wheel) (string, error) {
	root, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, w.Name+"-"+w.Version+"-"+w.SHA256[:12])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(root, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	file, err := download(ctx, w, tmp)
	if err != nil {
		return "", fmt.Errorf("wheel: %s %s: %w", w.Name, w.Version, err)
	}
	if err := unpack(file, filepath.Join(tmp, "unpacked")); err != nil {
		return "", fmt.Errorf("wheel: %s: %w", file, err)
	}
	err = os.Rename(filepath.Join(tmp, "unpacked"), dir)
	if _, there := os.Stat(dir); there == nil {
		return dir, nil // another test may have been first
	}
	return "", err
}

func cacheDir() (string, error) {
	if home := os.Getenv("HALFTONE_HOME"); home != "" {
		return filepath.Join(home, "cache", "wheels"), nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "halftone", "wheels"), err
}

// download runs the pip that the checkout carries, which needs nothing but Python itself.
func download(ctx context.Context, w Wheel, dir string) (string, error) {
	pip, err := carriedPip()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "python3", filepath.Join(pip, "pip"), "--disable-pip-version-check", "--no-input", "download", "--quiet", "--no-deps",
		"--only-binary=:all:", "--platform", "manylinux2014_x86_64", "--dest", dir, w.Name+"=="+w.Version)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("pip: %w\n%s", err, bytes.TrimSpace(out))
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
	if len(files) != 1 {
		return "", fmt.Errorf("pip downloaded %d files", len(files))
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != w.SHA256 {
		return "", fmt.Errorf("the file's SHA-256 is %x, not %s", sum, w.SHA256)
	}
	return files[0], nil
}

// carriedPip finds the checkout around the current folder and the pip in it.
func carriedPip() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if files, _ := filepath.Glob(filepath.Join(dir, "kernelext", "install", "python", "pip-*.whl")); len(files) == 1 {
			return files[0], nil
		}
	}
	return "", errors.New("no checkout of Halftone around the current folder")
}

func unpack(file, dir string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		to := filepath.Join(dir, filepath.FromSlash(f.Name))
		if !strings.HasPrefix(to, dir+string(filepath.Separator)) {
			return fmt.Errorf("%q leaves the folder", f.Name)
		}
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := write(f, to); err != nil {
			return err
		}
	}
	return nil
}

func write(f *zip.File, to string) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	mode := os.FileMode(0o644)
	if f.Mode()&0o111 != 0 || strings.Contains(f.Name, "/bin/") { // ptxas
		mode = 0o755
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
