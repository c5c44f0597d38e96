package widgets

import (
	"fmt"
	"strings"
)

// finding is what the run's format makes of the gradients, with the scale and without.
func (d *ExponentsData) finding() string {
	all := d.Scaled.All()
	switch {
	case all == 0:
		return fmt.Sprintf("All %s gradients counted are zero or not finite.", Count(d.N))
	case d.TooLarge():
		bad, at := percent(d.Infs+d.NaNs, d.N), ""
		if d.Now > 0 && d.Now < d.N {
			bad, at = percent(d.BadNow, d.Now), " counted at it"
		}
		return fmt.Sprintf("Loss scale %s is too large: %s of the gradients%s are infinite or NaN. Of the others %s keeps %s whole and loses %s to zero.", ScaleText(d.Scale),
			bad, at, d.In(), percent(d.Scaled.Normal, all), percent(d.Scaled.Zero, all))
	case d.Scale == 1:
		return fmt.Sprintf("Without a loss scale %s keeps %s of the gradients whole and %s with fewer digits, and loses %s to zero and %s to overflow.",
			d.In(), percent(d.Unscaled.Normal, all), percent(d.Unscaled.Subnormal, all), percent(d.Unscaled.Zero, all), percent(d.Unscaled.Overflow, all))
	}
	s := fmt.Sprintf("At loss scale %s %s keeps %s of the gradients whole and %s with fewer digits, and loses %s to zero", ScaleText(d.Scale), d.In(),
		percent(d.Scaled.Normal, all), percent(d.Scaled.Subnormal, all), percent(d.Scaled.Zero, all))
	if d.Scaled.Overflow > 0 {
		s += " and " + percent(d.Scaled.Overflow, all) + " to overflow"
	}
	return s + fmt.Sprintf("; without it %s would be lost to zero.", percent(d.Unscaled.Zero, all))
}

// Rest is what else the finding needs to be understood; "" where there is nothing.
func (d *ExponentsData) Rest() string {
	if d.Missing != "" || d.N == 0 {
		return ""
	}
	s := ""
	switch {
	case d.Below > 0:
		s = d.unknown()
	default:
		s = fmt.Sprintf("Largest gradient %s; loss scales up to %s are safe.", magnitude(d.Amax), ScaleText(d.Best))
		if d.Scale > d.Best && d.Scaled.Overflow == 0 {
			s += " The present one is above that: when it grows, gradients may overflow."
		}
	}
	if d.Zeros > 0 {
		s += fmt.Sprintf(" Of the numbers %s are zero", percent(d.Zeros, d.N))
		if d.Halves > 0 {
			s += fmt.Sprintf("; %s were 16 bits wide, and what those had lost before is among the zeros", percent(d.Halves, d.N))
		}
		s += "."
	}
	return s
}

// unknown tells of the numbers that were not finite, and at which scales.
func (d *ExponentsData) unknown() string {
	at := "at loss scale " + ScaleText(d.Below)
	switch {
	case d.Above > d.Below:
		at = "at loss scales from " + ScaleText(d.Below) + " to " + ScaleText(d.Above)
	case d.Below == 1:
		at = "without a loss scale"
	}
	s := "1 number was not finite " + at
	if n := d.Infs + d.NaNs; n != 1 {
		s = fmt.Sprintf("%s numbers (%s) were not finite %s", Count(n), percent(n, d.N), at)
	}
	before := d.Scale >= d.Below && !d.TooLarge() // the scale has come down since, or gradients have
	if before && d.Now > 0 {
		s += ", and none at the present one"
	}
	s += ": how large they would be cannot be known."
	if d.Infs+d.NaNs == 1 {
		s = strings.Replace(s, "they would be", "it would be", 1)
	}
	if before {
		return s + fmt.Sprintf(" No loss scale above %s was safe in every step, and smaller ones may not be either.", ScaleText(d.Best))
	}
	return s + fmt.Sprintf(" Loss scales above %s are not safe, and smaller ones may not be either.", ScaleText(d.Best))
}
