package session

import "testing"

type (
	onePass   struct{}
	otherPass struct{}
)

func (*onePass) pass()   {}
func (*otherPass) pass() {}

type passer interface{ pass() }

// TestStructureOfPartsWithoutFields: such parts all lie at one address, and a model in which one of another type takes a place is another model.
func TestStructureOfPartsWithoutFields(t *testing.T) {
	type net struct{ A, B passer }
	same, other := describe(&net{&onePass{}, &onePass{}}), describe(&net{&onePass{}, &otherPass{}})
	if same == other {
		t.Errorf("both are\n%s", same)
	}
	shared := &struct{ N int }{1}
	if describe([]any{shared, shared}) == describe([]any{shared, &struct{ N int }{1}}) {
		t.Error("a part that is there twice is as two")
	}
}
