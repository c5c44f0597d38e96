package widgets

import (
	"slices"
	"strings"
)

// foldAbove is the number of sites from which numbered siblings share rows: a network of 48 equal blocks is read as one block.
const foldAbove = 60

// foldKey is what two sites must agree in to share a row: all of siteKey but the numbers in the module's path and the line.
type foldKey struct {
	siteKey
	casts string
}

// fold merges sites of modules whose paths differ in numbers only and whose decisions are the same. Small traces stay as
// they are: there each layer is worth a row.
func (b *tally) fold() {
	if len(b.sites) <= foldAbove {
		return
	}
	index := map[foldKey]*siteTally{}
	modules := map[*siteTally]map[string]bool{}
	var out []*siteTally
	for _, s := range b.sites {
		key := foldKey{siteKey: s.key, casts: castShape(s.Casts)}
		key.module, key.where = stars(s.Module), ""
		into := index[key]
		if into == nil {
			index[key] = s
			modules[s] = map[string]bool{s.Module: true}
			out = append(out, s)
			continue
		}
		modules[into][s.Module] = true
		into.merge(s)
	}
	for _, s := range out {
		if n := len(modules[s]); n > 1 {
			s.Module, s.Modules = stars(s.Module), n
			for i := range s.Casts {
				s.Casts[i].Name = stars(s.Casts[i].Name)
			}
		}
	}
	b.sites = out
}

// merge adds another site's numbers.
func (s *siteTally) merge(o *siteTally) {
	s.Calls += o.Calls
	s.Bytes += o.Bytes
	s.Saved += o.Saved
	s.health.join(&o.health)
	s.ns += o.ns
	s.Changed = s.Changed || o.Changed
	if s.Where != o.Where {
		s.Where = ""
	}
	if s.Shape != o.Shape {
		s.Shape = ""
	}
	if s.Dims != nil && (o.Dims == nil || s.Dims.OK() && !o.Dims.OK()) {
		s.Dims = o.Dims // one that does not fit is worth showing
	}
	for i := range s.Casts {
		x, y := &s.Casts[i], o.Casts[i]
		x.Count += y.Count
		x.Hits += y.Hits
		x.Bytes += y.Bytes
		x.Lost += y.Lost
		x.Over += y.Over
		x.Each = max(x.Each, y.Each)
	}
}

// castShape is what the casts of two sites must agree in.
func castShape(casts []CastSite) string {
	var b strings.Builder
	for _, c := range casts {
		b.WriteString(stars(c.Name))
		b.Write([]byte{0, byte(c.Operand), byte(c.From), byte(c.To)})
		b.WriteString(c.Format)
	}
	return b.String()
}

// stars replaces the numbers in a path: "blocks/11/query" becomes "blocks/*/query", "block_3.weight" "block_*.weight".
func stars(path string) string {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	if !strings.ContainsFunc(path, isDigit) {
		return path
	}
	var b strings.Builder
	r := []rune(path)
	for i := 0; i < len(r); i++ {
		// Only a number that is a part of its own: "fc1" and "h2o" are names.
		if isDigit(r[i]) && (i == 0 || slices.Contains([]rune("/._-"), r[i-1])) {
			k := i
			for k < len(r) && isDigit(r[k]) {
				k++
			}
			if k == len(r) || slices.Contains([]rune("/._-"), r[k]) {
				b.WriteRune('*')
				i = k - 1
				continue
			}
		}
		b.WriteRune(r[i])
	}
	return b.String()
}
