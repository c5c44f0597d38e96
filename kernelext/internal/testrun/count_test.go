package main

import (
	"strings"
	"testing"
)

func tallyOf(t *testing.T, events string) (*tally, string) {
	t.Helper()
	var out strings.Builder
	tl := newTally(&out)
	if err := tl.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	return tl, out.String()
}

func TestCounts(t *testing.T) {
	tl, out := tallyOf(t, `
{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: detail\n"}
{"Action":"run","Package":"p","Test":"TestA/one"}
{"Action":"run","Package":"p","Test":"TestA/two"}
{"Action":"pass","Package":"p","Test":"TestA/one"}
{"Action":"output","Package":"p","Test":"TestA/two","Output":"    a_test.go:9: it broke\n"}
{"Action":"fail","Package":"p","Test":"TestA/two"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: no browser: install chromium\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"pass","Package":"p","Test":"TestC"}
{"Action":"fail","Package":"p","Elapsed":1.5}
{"Action":"start","Package":"empty"}
{"Action":"skip","Package":"empty"}
`)
	// TestA itself is not counted: its subtests are.
	if tl.total != (totals{passed: 2, failed: 1, skipped: 1}) {
		t.Errorf("%+v", tl.total)
	}
	if len(tl.skips) != 1 || tl.skips[0] != "p TestB: no browser: install chromium" {
		t.Errorf("skipped: %q", tl.skips)
	}
	if len(tl.failing) != 1 || tl.failing[0] != "p TestA/two" || !strings.Contains(out, "it broke") || !strings.Contains(out, "detail") {
		t.Errorf("failing: %q\n%s", tl.failing, out)
	}
	if tl.total.String() != "2 passed, 1 failed, 1 skipped" {
		t.Error(tl.total.String())
	}
}

func TestBuildFailureIsAFailure(t *testing.T) {
	tl, out := tallyOf(t, `{"ImportPath":"p [p.test]","Action":"build-output","Output":"# p\n"}
{"ImportPath":"p [p.test]","Action":"build-output","Output":"p/a.go:3:1: syntax error\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","Elapsed":0,"FailedBuild":"p [p.test]"}
`)
	if tl.total != (totals{failed: 1}) || !strings.Contains(out, "syntax error") {
		t.Errorf("%+v\n%s", tl.total, out)
	}
}

func TestDeadProcessIsAFailureOfTheTestThatRan(t *testing.T) {
	tl, out := tallyOf(t, `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"panic: boom\n"}
{"Action":"fail","Package":"p","Elapsed":0.1}
`)
	if tl.total != (totals{passed: 1, failed: 1}) || !strings.Contains(out, "panic: boom") || tl.failing[0] != "p TestB" {
		t.Errorf("%+v %q\n%s", tl.total, tl.failing, out)
	}
	// Failing outside any test, e.g. in TestMain.
	tl, out = tallyOf(t, `{"Action":"output","Package":"p","Output":"cannot set up\n"}
{"Action":"fail","Package":"p"}
`)
	if tl.total != (totals{failed: 1}) || !strings.Contains(out, "cannot set up") {
		t.Errorf("%+v\n%s", tl.total, out)
	}
}

func TestForeignLinesArePassedOn(t *testing.T) {
	if _, out := tallyOf(t, "go: downloading x v1\n{}\n"); !strings.Contains(out, "go: downloading x v1") {
		t.Errorf("%q", out)
	}
}
