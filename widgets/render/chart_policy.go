package render

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// A policyShare is what ops of some classes have in common, with its color.
type policyShare struct {
	name    string
	color   color.NRGBA
	classes []amp.Class
}

// policyShares are the segments of a bar.
func policyShares(d *widgets.PolicyData) []policyShare {
	return []policyShare{
		{d.DType.String(), dtypeColor(d.DType), []amp.Class{amp.Lower}},
		{"float32", orange, []amp.Class{amp.FP32, amp.FP32Output, amp.FP32Append}},
		{"widest of the inputs", purple, []amp.Class{amp.Promote}},
		{"refused", red, []amp.Class{amp.Banned}},
		{"as the inputs are", border, []amp.Class{amp.Unlisted, amp.Inherit}},
	}
}

// policyChart draws for each of the lists how many ops run in which precision.
func policyChart(f *widgets.Figure) drawing {
	d := f.Policy
	if d.Missing != "" {
		return note(f.Title, d.Missing)
	}
	const top, bar, gap, left, right = 62, 26, 12, 112, 18
	lists := [...]string{"cuda", "cpu", "apex"}
	return drawing{chartWidth, top + vg.Length(len(lists))*(bar+gap) + 6, func(c draw.Canvas) {
		paper(c)
		c.FillText(boldStyle(13, ink), vg.Point{X: 18, Y: c.Max.Y - 26}, "Ops by the precision they run in")
		shares := policyShares(d)
		x := vg.Length(18)
		for _, s := range shares {
			style := textStyle(9.5, ink)
			fill(c, s.color, x, c.Max.Y-50, 10, 10)
			c.FillText(style, vg.Point{X: x + 15, Y: c.Max.Y - 49}, s.name)
			x += 15 + style.Width(s.name) + 18
		}
		for i, l := range lists {
			y := c.Max.Y - top - vg.Length(i)*(bar+gap) - bar
			name := textStyle(10.5, ink)
			if l == d.Lists {
				name = boldStyle(10.5, ink)
			}
			c.FillText(name, vg.Point{X: 18, Y: y + 8}, map[string]string{"cuda": "PyTorch CUDA", "cpu": "PyTorch CPU", "apex": "Apex"}[l])
			drawShares(c, d, l, shares, left, y, c.Max.X-left-right, bar)
		}
	}}
}

// drawShares draws the bar of one of the lists, with the counts where there is room.
func drawShares(c draw.Canvas, d *widgets.PolicyData, lists string, shares []policyShare, x, y, w, h vg.Length) {
	count, all := make([]int, len(shares)), 0
	for i := range d.Ops {
		o := &d.Ops[i]
		if o.Part {
			continue
		}
		for k, s := range shares {
			for _, class := range s.classes {
				if class.String() == o.On(lists) {
					count[k]++
					all++
				}
			}
		}
	}
	for k, s := range shares {
		if count[k] == 0 {
			continue
		}
		part := w * vg.Length(count[k]) / vg.Length(all)
		fill(c, s.color, x, y, max(part-1, 1.5), h)
		style := boldStyle(10, onColor(s.color))
		style.XAlign = draw.XCenter
		if n := group(int64(count[k])); style.Width(n)+6 < part {
			c.FillText(style, vg.Point{X: x + part/2, Y: y + h/2 - 3.5}, n)
		}
		x += part
	}
}
