package amp

// Loops without Steps. In PyTorch what a step made goes when Python lets go of it; here it goes when its scope closes, and a plain loop in a
// root scope keeps it all until the machine's memory is full. A warning says so long before that.

// A loop in one scope is warned of once it has had this many backward passes and holds this many bytes: small ones do no harm.
const (
	untendedPasses = 50
	untendedBytes  = 64 << 20
)

// fixMemory is what to do where memory is short.
const fixMemory = "use a smaller batch, close scopes you no longer need, or loop with root.Steps, whose steps free what they made"

// A passCount counts the backward passes in one generation of an arena.
type passCount struct {
	gen uint32
	n   int
}

// untended counts a backward pass in s's memory and warns where passes that are over fill it. It looks at powers of two of untendedPasses.
func (s *Scope) untended() {
	a := s.arena
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := &a.passes; c.gen != s.gen {
		*c = passCount{gen: s.gen}
	}
	a.passes.n++
	n := a.passes.n
	if k := n / untendedPasses; n%untendedPasses != 0 || k&(k-1) != 0 {
		return
	}
	bytes, seen := int64(0), map[*storage]bool{}
	for _, t := range a.owned {
		if st := t.st; st != nil && !seen[st] {
			seen[st] = true
			bytes += st.bytes
		}
	}
	if bytes >= untendedBytes {
		warnOnce("a loop without Steps", "%d backward passes in one scope, and none of their %d MB of tensors are freed before it closes; write the loop as `for s := range root.Steps(n)` and call its ops in s, or give each pass a scope := root.Child() and close it", n, bytes>>20)
	}
}
