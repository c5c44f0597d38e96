package amp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Sample holds some elements of a tensor, rounded to float32, in row-major order. Its JSON form is a list of numbers in which null
// stands for what is not finite.
type Sample []float32

// maxSample is the number of elements that a sample holds.
const maxSample = 16

// pick takes the elements of the sample from the next chunk.
func (c *tally) pick(values []float64) {
	if c.Sample == nil && c.n > 0 {
		c.Sample = make(Sample, 0, min(c.n, maxSample))
	}
	for len(c.Sample) < cap(c.Sample) {
		next := len(c.Sample) * c.n / cap(c.Sample)
		if next >= c.at+len(values) {
			break
		}
		c.Sample = append(c.Sample, float32(values[next-c.at]))
	}
	c.at += len(values)
}

// MarshalJSON writes the shortest numbers that read back as the same float32.
func (s Sample) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range s {
		if i > 0 {
			b = append(b, ',')
		}
		if x := float64(v); math.IsNaN(x) || math.IsInf(x, 0) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote; what is not finite comes back as NaN.
func (s *Sample) UnmarshalJSON(b []byte) error {
	text := strings.TrimSpace(string(b))
	if text == "null" {
		*s = nil
		return nil
	}
	inner, ok := strings.CutPrefix(text, "[")
	inner, ok2 := strings.CutSuffix(inner, "]")
	if !ok || !ok2 {
		return fmt.Errorf("amp: a sample is a list of numbers, not %.40s", text)
	}
	*s = Sample{}
	if strings.TrimSpace(inner) == "" {
		return nil
	}
	for word := range strings.SplitSeq(inner, ",") {
		word = strings.TrimSpace(word)
		v := math.NaN()
		if word != "null" {
			var err error
			if v, err = strconv.ParseFloat(word, 32); err != nil {
				return fmt.Errorf("amp: a sample holds numbers, not %.40s", word)
			}
		}
		*s = append(*s, float32(v))
	}
	return nil
}
