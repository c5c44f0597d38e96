package labextension

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestVendoredFileIsTheRecordedOne(t *testing.T) {
	v, err := ECharts()
	if err != nil {
		t.Fatal(err)
	}
	b, err := fs.ReadFile(FS(), Script)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != v.SHA256 || len(b) != v.Bytes {
		t.Errorf("%s has %d bytes and SHA-256 %s, recorded are %d and %s: run npm ci && npm run build", Script, len(b), got, v.Bytes, v.SHA256)
	}
	if "static/"+v.File != Script {
		t.Errorf("the record is of %q, the script is %q", v.File, Script)
	}
	if len(b) > 700<<10 {
		t.Errorf("%d bytes: the library grew beyond 700 KiB", len(b))
	}
	if !bytes.Contains(b[:200], []byte(v.Version)) {
		t.Errorf("the first line does not name version %s: %s", v.Version, b[:200])
	}
}

// TestVersionIsPinned compares the record with the pin and the lock file that a rebuild uses.
func TestVersionIsPinned(t *testing.T) {
	v, err := ECharts()
	if err != nil {
		t.Fatal(err)
	}
	var pkg struct {
		DevDependencies map[string]string
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	for name, into := range map[string]any{"package.json": &pkg, "package-lock.json": &lock} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatal(name, err)
		}
	}
	for name, version := range pkg.DevDependencies {
		if !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
			t.Errorf("%s is not pinned to an exact version: %q", name, version)
		}
		if p := lock.Packages["node_modules/"+name]; p.Version != version || !strings.HasPrefix(p.Integrity, "sha512-") {
			t.Errorf("the lock file has %s %q with integrity %q, package.json wants %s", name, p.Version, p.Integrity, version)
		}
	}
	if pkg.DevDependencies["echarts"] != v.Version {
		t.Errorf("pinned is %s, vendored is %s", pkg.DevDependencies["echarts"], v.Version)
	}
}

func TestLicensesAreBesideTheFile(t *testing.T) {
	for name, words := range map[string]string{
		"LICENSE-echarts": "Apache License", "NOTICE-echarts": "Apache Software Foundation",
		"LICENSE-zrender": "Baidu", "LICENSE-d3": "Bostock",
	} {
		b, err := fs.ReadFile(FS(), "static/"+name)
		if err != nil {
			t.Error(err)
		} else if !bytes.Contains(b, []byte(words)) {
			t.Errorf("%s does not contain %q", name, words)
		}
	}
}

// TestNothingLoadsAsAnExtension: with a package.json JupyterLab would try to load the folder and complain in the console.
func TestNothingLoadsAsAnExtension(t *testing.T) {
	if _, err := fs.Stat(FS(), "package.json"); err == nil {
		t.Error("dist has a package.json")
	}
}

// TestNoNetwork: the library must not name a host to load anything from.
func TestNoNetwork(t *testing.T) {
	b, err := fs.ReadFile(FS(), Script)
	if err != nil {
		t.Fatal(err)
	}
	allowed := regexp.MustCompile(`^https?://(www\.w3\.org/|echarts\.apache\.org/)`) // XML namespaces; a link in an error message
	for _, url := range regexp.MustCompile(`https?://[\w./-]+`).FindAllString(string(b), -1) {
		if !allowed.MatchString(url) {
			t.Errorf("the library names %s", url)
		}
	}
}
