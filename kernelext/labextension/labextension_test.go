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

// TestEntry: JupyterLab loads the script that package.json names, which carries the hash of what it holds.
func TestEntry(t *testing.T) {
	entry, err := Entry()
	if err != nil {
		t.Fatal(err)
	}
	b, err := fs.ReadFile(FS(), entry)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	if want := "static/remoteEntry." + hex.EncodeToString(sum[:8]) + ".js"; entry != want {
		t.Errorf("the entry is %s, its content makes it %s: run npm run build", entry, want)
	}
	if len(b) > 130<<10 {
		t.Errorf("%s has %d bytes, at most 130 KiB are wanted", entry, len(b))
	}
	all, err := fs.Glob(FS(), "static/remoteEntry.*.js")
	if err != nil || len(all) != 1 {
		t.Errorf("there are entries of other builds: %q, %v", all, err)
	}
	var dist, source struct{ Name, Version string }
	for name, into := range map[string]any{"dist/package.json": &dist, "package.json": &source} {
		p, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(p, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if dist != source || dist.Name != Name {
		t.Errorf("built is %v, the sources are %v, the folder is %s", dist, source, Name)
	}
}

// TestStrict: nothing in the extension parses text as HTML or as a program, and nothing goes out to the network.
func TestStrict(t *testing.T) {
	entry, err := Entry()
	if err != nil {
		t.Fatal(err)
	}
	b, err := fs.ReadFile(FS(), entry)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{
		"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "createContextualFragment", "eval(", "Function(", "setTimeout(\"", "javascript:",
		"fetch(", "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "importScripts", "import(", "<script", "<style", "localStorage", "document.cookie",
	} {
		if bytes.Contains(b, []byte(word)) {
			t.Errorf("%s contains %q", entry, word)
		}
	}
}

// TestLockNamesNoHost: packages come from the registry that npm is set up with.
func TestLockNamesNoHost(t *testing.T) {
	b, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`"resolved"|https?://`).Match(b) {
		t.Error(`the lock file names addresses: make it with npm install --omit-lockfile-registry-resolved`)
	}
}

// TestNoNetwork: no script may name a host to load anything from.
func TestNoNetwork(t *testing.T) {
	entry, err := Entry()
	if err != nil {
		t.Fatal(err)
	}
	b, err := fs.ReadFile(FS(), Script)
	if err != nil {
		t.Fatal(err)
	}
	own, err := fs.ReadFile(FS(), entry)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, own...)
	allowed := regexp.MustCompile(`^https?://(www\.w3\.org/|echarts\.apache\.org/)`) // XML namespaces; a link in an error message
	for _, url := range regexp.MustCompile(`https?://[\w./-]+`).FindAllString(string(b), -1) {
		if !allowed.MatchString(url) {
			t.Errorf("the library names %s", url)
		}
	}
}
