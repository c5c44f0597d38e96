package install

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"strings"
)

// The private environment is made from one lock file that is valid for CPython 3.10 to 3.14 on Linux (glibc 2.28 or newer)
// and macOS, x86-64 and arm64. To make it again, in python/, with uv:
//
//	uv pip compile --universal --generate-hashes --python-version 3.10 --no-emit-index-url --no-annotate --no-header --no-emit-package rfc3987-syntax --no-emit-package lark requirements.in -o requirements.txt
//
// (What is left out lets jsonschema check a format that Jupyter has no use for, and takes four fifths of the time in which any of its programs
// starts: it makes a parser when it is imported, which jsonschema does where it is there.)
//
// and check each of the platforms that it has wheels for everything (lock_test.go names them):
//
//	uv pip install --dry-run --target t --python-version 3.14 --python-platform aarch64-apple-darwin --only-binary :all: --require-hashes -r requirements.txt
//
// pip itself comes along as its own published wheel, so that neither a missing ensurepip (Debian without python3-venv) nor an
// old pip matters.
//
//go:embed python
var pythonFiles embed.FS

const (
	lockFile = "python/requirements.txt"
	pipWheel = "pip-26.3-py3-none-any.whl"
	// slowImport was in the lock once, and is taken out of environments made then.
	slowImport = "rfc3987-syntax"
	pipHash    = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"
)

func lockText() string {
	b, err := pythonFiles.ReadFile(lockFile)
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	return string(b)
}

// lockHash names the lock; the environment made from another one is updated.
func lockHash() string {
	sum := sha256.Sum256([]byte(lockText()))
	return hex.EncodeToString(sum[:8])
}

// locked counts the distributions in the lock.
func locked() int {
	n := 0
	for line := range strings.Lines(lockText()) {
		if strings.Contains(line, "==") && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}
