package main

import "testing"

// TestTimeIsUp: the end of the time for a search is no failure, whatever else a fuzz target says is one.
func TestTimeIsUp(t *testing.T) {
	const end = "fuzz: elapsed: 20s, execs: 154440 (18567/sec), new interesting: 118 (total: 3585)\n--- FAIL: FuzzOps (20.41s)\n    context deadline exceeded\nFAIL\nexit status 1\nFAIL\tpkg\t20.422s\n"
	for out, want := range map[string]bool{
		end:  true,
		"ok": false,
		"--- FAIL: FuzzOps (3.41s)\n    --- FAIL: FuzzOps (0.00s)\n        ops_test.go:3: wrong\n\n    Failing input written to testdata/fuzz/FuzzOps/ab\n":      false,
		"--- FAIL: FuzzOps (3.41s)\n    fuzzing process hung or terminated unexpectedly: exit status 2\n    Failing input written to testdata/fuzz/FuzzOps/ab\n": false,
		"--- FAIL: FuzzOps (3.41s)\n    --- FAIL: FuzzOps (0.00s)\n        ops_test.go:3: context deadline exceeded\nFAIL\n":                                     false,
		"panic: ops\n" + end: false,
	} {
		if got := timeIsUp(out); got != want {
			t.Errorf("%v for\n%s", got, out)
		}
	}
}
