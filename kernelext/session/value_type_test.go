package session

import (
	"bytes"
	"encoding/gob"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/session/store"
)

type ring struct {
	Next  *ring
	Parts map[string][]ring
}

type list2 []list2

// TestFingerprint of types of every form.
func TestFingerprint(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{3.0, ": float64"},
		{[]float64{}, ": []float64"},
		{time.Time{}, ": time.Time"},
		{[]*big.Int{}, ": []*big.Int"},
		{ring{}, ": struct\nNext: *as the value itself\nParts: map[][]as the value itself\nParts[key]: string"},
		{list2{}, ": []as the value itself"},
		{struct{ B, A int }{}, ": struct\nA: int\nB: int"},
		{[2]struct{ A any }{}, ": [2]struct\n[].A: interface"},
	} {
		if got := fingerprint(reflect.TypeOf(c.of)); got != c.want {
			t.Errorf("%T: %q, want %q", c.of, got, c.want)
		}
	}
}

// TestValueOfAnOlderVersion: it was kept without a text of its type, and is read as it was then.
func TestValueOfAnOlderVersion(t *testing.T) {
	type stats struct{ Loss []float64 }
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(stats{[]float64{1, 2}}); err != nil {
		t.Fatal(err)
	}
	var v stats
	if fault := decode(&store.Object{}, b.Bytes(), fingerprint(reflect.TypeFor[stats]()), &v); fault != "" || len(v.Loss) != 2 {
		t.Errorf("%q, %v", fault, v)
	}
	if fault := decode(&store.Object{Structure: ": struct\nL: []float64"}, b.Bytes(), fingerprint(reflect.TypeFor[stats]()), &v); fault == "" {
		t.Error("another type is read")
	}
}
