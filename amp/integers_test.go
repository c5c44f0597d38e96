package amp

import (
	"slices"
	"testing"
)

// TestIntegersAreSaid gives every row that users call integers: one that says nothing of them refuses them.
func TestIntegersAreSaid(t *testing.T) {
	asked, called := map[string]bool{}, caseNames()
	defer aroundChecks(func(o *Op, c *Call, check func(c *Call) []int) []int {
		if o.InPlace || !slices.Contains(called, o.Name) || !c.In[0].isWhole() {
			return check(c)
		}
		asked[o.Name] = true
		shape := check(c)
		if !o.Ints {
			t.Errorf("%s took %v", o.Name, c.shapes())
		}
		return shape
	})()
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		s := NewScope()
		defer s.Close()
		in := c.draws(s, Float64, 1)
		for i, x := range in {
			in[i] = To(s, x, Int64)
		}
		_ = Maybe(func() { c.call(s.NoGrad(), in) }) // refused, or a division by 0
	})
	if len(asked) < 140 {
		t.Errorf("only %d rows were given integers", len(asked))
	}
}
