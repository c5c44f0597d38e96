package amp

import "fmt"

// Shape rules that several rows share. They panic with ErrShape or ErrDType, naming the inputs.

// shapes words the inputs of a call: "x [2 3], weight [4 5]".
func (c *Call) shapes() string {
	text := ""
	for i, t := range c.In {
		if t == nil {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("%s %v %v", c.Op.argName(i), t.dt, t.shape)
	}
	return text
}

// floats refuses non-float inputs, and inputs of different dtypes.
func (c *Call) floats() {
	for i, t := range c.In {
		if t == nil {
			continue
		}
		c.isFloat(i)
		c.sameDType(i)
	}
}

// floatParameters is floats for norms, which take float32 parameters beside a half input: weights stay float32 where autocast leaves
// the norm in the dtype of its input.
func (c *Call) floatParameters() {
	for i, t := range c.In {
		if t == nil {
			continue
		}
		c.isFloat(i)
		if !c.In[0].dt.IsHalf() || t.dt != Float32 {
			c.sameDType(i)
		}
	}
}

func (c *Call) isFloat(i int) {
	if t := c.In[i]; !t.dt.IsFloat() {
		fail(c.Op.Name, ErrDType, "convert it with amp.To(s, t, amp.Float32)", "%s is %v, need a float dtype", c.Op.argName(i), t.dt)
	}
}

// sameDType refuses input i if its dtype is not that of the first.
func (c *Call) sameDType(i int) {
	if t := c.In[i]; t.dt != c.In[0].dt {
		fix := "run it in an Autocast scope, or convert one with amp.To"
		switch {
		case t.dt == Float64 || c.In[0].dt == Float64:
			fix = "convert one with amp.To: autocast leaves float64 alone"
		case c.Op.Class == Banned:
			fix = "convert one with amp.To: autocast refuses " + c.Op.Name
		case c.Op.Class == Unlisted:
			fix = "convert one with amp.To: autocast leaves the inputs of " + c.Op.Name + " alone"
		}
		fail(c.Op.Name, ErrDType, fix, "%s", c.shapes())
	}
}

// checkUnary is the rule of elementwise float ops of one input.
func checkUnary(c *Call) []int {
	c.floats()
	return c.In[0].shape
}

// checkBinary is the rule of elementwise ops of two inputs: shapes are broadcast.
func checkBinary(c *Call) []int {
	if !c.Op.Ints || c.In[0].dt == Bool {
		c.floats()
	}
	c.sameDType(1)
	return broadcast(c)
}

// broadcast returns the common shape of the first two inputs: sizes agree from the last dimension, or one of them is 1.
func broadcast(c *Call) []int {
	a, b := c.In[0].shape, c.In[1].shape
	if len(a) < len(b) {
		a, b = b, a
	}
	out := make([]int, len(a))
	copy(out, a)
	for i := range b {
		d := len(a) - len(b) + i
		switch {
		case a[d] == b[i] || b[i] == 1:
		case a[d] == 1:
			out[d] = b[i]
		default:
			fail(c.Op.Name, ErrShape, "make the sizes equal, or 1 where one is to be repeated (amp.Reshape)",
				"%s can't be broadcast together (dimension %d: %d and %d)", c.shapes(), d, a[d], b[i])
		}
	}
	return out
}

// sameShape panics unless inputs 0 and 1 have one shape.
func (c *Call) sameShape() {
	a, b := c.In[0].shape, c.In[1].shape
	same := len(a) == len(b)
	for i := 0; same && i < len(a); i++ {
		same = a[i] == b[i]
	}
	if !same {
		fix := "reshape one with amp.Reshape so that the shapes are equal"
		if n, m := c.In[0].Len(), c.In[1].Len(); n != m {
			fix = fmt.Sprintf("make the shapes equal: one has %d numbers, the other %d, which no reshape changes", n, m)
		}
		fail(c.Op.Name, ErrShape, fix, "%s", c.shapes())
	}
}
