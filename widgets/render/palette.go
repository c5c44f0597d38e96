package render

import (
	"image/color"

	"github.com/halftone-ml/halftone/amp"
)

// The Okabe-Ito colors, which people with any color vision tell apart. A mark or a word always stands beside a color.
var (
	blue   = color.NRGBA{0x00, 0x72, 0xb2, 0xff} // float16
	green  = color.NRGBA{0x00, 0x9e, 0x73, 0xff} // bfloat16, steady
	orange = color.NRGBA{0xe6, 0x9f, 0x00, 0xff} // float32, calibrating
	red    = color.NRGBA{0xd5, 0x5e, 0x00, 0xff} // overflow, collapsing
	purple = color.NRGBA{0xcc, 0x79, 0xa7, 0xff}
	sky    = color.NRGBA{0x56, 0xb4, 0xe9, 0xff}
	gray   = color.NRGBA{0x8a, 0x8a, 0x8a, 0xff} // anything else

	ink    = color.NRGBA{0x1f, 0x23, 0x28, 0xff} // text on the card
	faint  = color.NRGBA{0x65, 0x6d, 0x76, 0xff} // secondary text on the card, 5:1 on white
	rule   = color.NRGBA{0xe4, 0xe7, 0xeb, 0xff} // grid
	border = color.NRGBA{0xd0, 0xd7, 0xde, 0xff}
	card   = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)

// dtypeColor is the color of a dtype in every figure.
func dtypeColor(d amp.DType) color.NRGBA {
	switch d {
	case amp.Float16:
		return blue
	case amp.BFloat16:
		return green
	case amp.Float32:
		return orange
	}
	return gray
}

// onColor is the text color that reads best on a background: contrast at least 4.5 on all of the above.
func onColor(bg color.NRGBA) color.NRGBA {
	// Relative luminance with a plain square for the sRGB curve is close enough to choose between black and white.
	l := 0.0
	for i, v := range []uint8{bg.R, bg.G, bg.B} {
		x := float64(v) / 255
		l += []float64{0.2126, 0.7152, 0.0722}[i] * x * x
	}
	if l > 0.19 {
		return color.NRGBA{0x11, 0x11, 0x11, 0xff}
	}
	return card
}

// seriesColors tell runs apart that share a dtype, or have none; the extension has the same in its style sheet. Sky comes late: beside
// float16's blue, which is pale where the run is the reference, it is told by its width alone. Yellow is not among them: nobody sees it on
// white.
var seriesColors = []color.NRGBA{purple, red, gray, sky, ink}
