package render

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// chartOptions are the settings that both interactive charts share, for one plot or for two with the second below. Colors of
// text and grid are not among them: the script takes them from the page's theme.
func chartOptions(alt string, two bool) []charts.GlobalOpts {
	grids := []opts.Grid{{Left: "12", Right: "24", Top: "40", Bottom: "72", ContainLabel: opts.Bool(true)}}
	axes := []int{0}
	if two {
		grids = []opts.Grid{{Left: "64", Right: "24", Top: "40", Height: "210"}, {Left: "64", Right: "24", Top: "288", Height: "84"}}
		axes = []int{0, 1}
	}
	return []charts.GlobalOpts{
		charts.WithAnimation(false),
		charts.WithAriaOpts(&opts.Aria{Enabled: opts.Bool(true), Label: &opts.AriaLabel{Enabled: opts.Bool(true), Description: alt}}),
		charts.WithDataZoomOpts(opts.DataZoom{Type: "slider", FilterMode: "none", XAxisIndex: axes}, opts.DataZoom{Type: "inside", FilterMode: "none", XAxisIndex: axes}),
		charts.WithGridOpts(grids...),
		charts.WithTooltipOpts(opts.Tooltip{Show: opts.Bool(true), Trigger: "axis", AxisPointer: &opts.AxisPointer{Type: "line"}}),
	}
}

// scaleOption is the ECharts option of a scale history: log2 of the scale as steps with a cross for each run of skips and, below,
// how many steps the optimizer is behind.
func scaleOption(f *widgets.Figure) map[string]any {
	d := f.Scale
	_, x1, y0, y1 := scaleRange(d)
	steps := opts.XAxis{Type: "value", Name: "step", NameLocation: "middle", NameGap: 26, Min: 0, Max: x1, MinInterval: 1}
	behind := len(d.Skips) > 0
	c := charts.NewLine()
	c.SetGlobalOptions(append(chartOptions(f.Alt, behind),
		charts.WithLegendOpts(opts.Legend{Top: "4", Right: "10"}),
		charts.WithXAxisOpts(steps),
		charts.WithYAxisOpts(opts.YAxis{Type: "value", Name: "loss scale (log axis)", Min: math.Floor(y0), Max: math.Ceil(y1), MinInterval: 1}),
	)...)
	if behind {
		c.SetGlobalOptions(charts.WithAxisPointerOpts(&opts.AxisPointer{Link: []opts.AxisPointerLink{{XAxisIndex: []int{0, 1}}}}))
		c.XAxisList[0].Name = ""
		steps.GridIndex = 1
		c.ExtendXAxis(steps)
		c.ExtendYAxis(opts.YAxis{Type: "value", Name: "steps behind: nominal − effective", Min: 0, MinInterval: 1, SplitNumber: 2, GridIndex: 1})
	}
	c.AddSeries("loss scale", scalePoints(d),
		charts.WithLineChartOpts(opts.LineChart{Step: "end", Symbol: "none"}),
		charts.WithLineStyleOpts(opts.LineStyle{Color: hex(blue), Width: 2}),
		charts.WithItemStyleOpts(opts.ItemStyle{Color: hex(blue)}),
		charts.WithMarkLineNameYAxisItemOpts(floorLine(d)),
		charts.WithMarkLineStyleOpts(opts.MarkLineStyle{Symbol: []string{"none", "none"}, Label: &opts.Label{Show: opts.Bool(true), Position: "insideStartTop", Formatter: "{b}"}, LineStyle: &opts.LineStyle{Color: hex(gray), Type: "dotted"}}),
	)
	if end := calibrated(d); end > 0 {
		charts.WithMarkAreaNameCoordItemOpts(opts.MarkAreaNameCoordItem{Name: "calibrating", Coordinate0: []any{0, math.Floor(y0)}, Coordinate1: []any{end, math.Ceil(y1)}})(&c.MultiSeries[0])
		charts.WithMarkAreaStyleOpts(opts.MarkAreaStyle{ItemStyle: &opts.ItemStyle{Color: "rgba(230,159,0,0.12)"}, Label: &opts.Label{Show: opts.Bool(true), Position: "insideBottomLeft"}})(&c.MultiSeries[0])
	}
	if len(d.Skips) > 0 {
		s := charts.NewScatter()
		s.AddSeries("skipped", skipPoints(d),
			charts.WithScatterChartOpts(opts.ScatterChart{Symbol: crossPath, SymbolSize: 11}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: hex(red), Opacity: opts.Float(1)}),
			charts.WithLabelOpts(opts.Label{Show: opts.Bool(true), Position: "right", Formatter: "{b}", FontWeight: "bold"}),
			charts.WithLabelLayoutOpts(opts.LabelLayout{HideOverlap: opts.Bool(true)}),
		)
		c.Overlap(s)
	}
	if behind {
		c.AddSeries("steps behind", behindPoints(d),
			charts.WithLineChartOpts(opts.LineChart{Step: "end", Symbol: "none", XAxisIndex: 1, YAxisIndex: 1}),
			charts.WithLineStyleOpts(opts.LineStyle{Color: hex(red), Width: 1.5}),
			charts.WithItemStyleOpts(opts.ItemStyle{Color: hex(red)}),
			charts.WithAreaStyleOpts(opts.AreaStyle{Color: hex(red), Opacity: opts.Float(.15)}),
		)
	}
	c.Validate()
	return c.JSON()
}

// behindPoints are the points of the lower curve.
func behindPoints(d *widgets.ScaleData) []opts.LineData {
	var out []opts.LineData
	for _, p := range widgets.ThinPoints(d.Behind(), maxDrawn) {
		out = append(out, opts.LineData{Value: []any{p.Step, float64(p.Scale)}})
	}
	return out
}

// floorLine is the mark of the floor.
func floorLine(d *widgets.ScaleData) opts.MarkLineNameYAxisItem {
	at, name := reference(d)
	return opts.MarkLineNameYAxisItem{Name: name, YAxis: at}
}

// scalePoints are the points of the line.
func scalePoints(d *widgets.ScaleData) []opts.LineData {
	var out []opts.LineData
	for _, p := range widgets.ThinPoints(d.Points, maxDrawn) {
		out = append(out, opts.LineData{Value: []any{p.Step, round(p.Log2())}})
	}
	return out
}

// crossPath is × as ECharts draws paths.
const crossPath = "path://M0,2L2,0L5,3L8,0L10,2L7,5L10,8L8,10L5,7L2,10L0,8L3,5Z"

// skipPoints are the crosses, named by what overflowed; the third value is what the tooltip says.
func skipPoints(d *widgets.ScaleData) []opts.ScatterData {
	var out []opts.ScatterData
	for _, r := range d.Skips[:min(len(d.Skips), maxDrawn)] {
		out = append(out, opts.ScatterData{
			Name: skipLabel(r.Culprit, r.Count),
			Value: []any{r.First, round(widgets.ScalePoint{Scale: r.Scale}.Log2()),
				fmt.Sprintf("%s skipped: %s, %s → %s", r.Steps(), r.Blame(), widgets.ScaleText(r.Scale), widgets.ScaleText(r.Next))},
		})
	}
	return out
}

// skipLabel names what overflowed, and how often in a row.
func skipLabel(culprit string, count int) string {
	if culprit == "" || count <= 1 {
		return culprit
	}
	return fmt.Sprintf("%s ×%d", culprit, count)
}

// maxOptionPoints bounds the points of all curves of an interactive chart, which are stored in the HTML.
const maxOptionPoints = 600

// compareOption is the ECharts option of a comparison: the losses and, below, the differences from the reference.
func compareOption(f *widgets.Figure) map[string]any {
	d := f.Runs
	kind, label := "value", "loss"
	if d.Logarithmic() {
		kind, label = "log", "loss (log axis)"
	}
	lo, hi, below := differenceRange(d)
	steps := opts.XAxis{Type: "value", Name: "step", NameLocation: "middle", NameGap: 26, Max: "dataMax", MinInterval: 1}
	c := charts.NewLine()
	c.SetGlobalOptions(append(chartOptions(f.Alt, below),
		charts.WithLegendOpts(opts.Legend{Top: "4", Right: "10", Type: "scroll", ItemWidth: 32}),
		charts.WithXAxisOpts(steps),
		charts.WithYAxisOpts(opts.YAxis{Type: kind, Name: label, Scale: opts.Bool(true)}),
	)...)
	if below {
		c.SetGlobalOptions(charts.WithAxisPointerOpts(&opts.AxisPointer{Link: []opts.AxisPointerLink{{XAxisIndex: []int{0, 1}}}}))
		c.XAxisList[0].Name = ""
		steps.GridIndex = 1
		c.ExtendXAxis(steps)
		c.ExtendYAxis(opts.YAxis{Type: "value", Name: "relative difference from " + d.Runs[0].Name + " (log axis)", Min: lo, Max: hi, MinInterval: 1, SplitNumber: 3, GridIndex: 1})
	}
	limit := maxOptionPoints / max(2*len(d.Runs)-1, 1)
	if slices.ContainsFunc(d.Runs, func(r widgets.RunRow) bool { return len(r.Ops) > 0 }) { // whose table needs room too
		limit /= 2
	}
	for i := range d.Runs {
		r := &d.Runs[i]
		line, item := runLine(d, i), charts.WithItemStyleOpts(opts.ItemStyle{Color: hex(runColor(d, i))})
		c.AddSeries(r.Name, lossPoints(r, limit), charts.WithLineChartOpts(opts.LineChart{Symbol: symbolFor(r)}), charts.WithLineStyleOpts(line), item)
		if i > 0 && below {
			line.Width = 1.5
			c.AddSeries(r.Name, differencePoints(r, limit), charts.WithLineChartOpts(opts.LineChart{Symbol: symbolFor(r), XAxisIndex: 1, YAxisIndex: 1}), charts.WithLineStyleOpts(line), item)
		}
	}
	c.Validate()
	return c.JSON()
}

// runLine is how a run's curve looks, as in the static chart.
func runLine(d *widgets.CompareData, i int) opts.LineStyle {
	line := opts.LineStyle{Color: hex(runColor(d, i)), Width: 2, Type: "solid"}
	switch d.Runs[i].DType {
	case amp.Float16:
		line.Type = "dashed"
	case amp.BFloat16:
		line.Type = "dotted"
	}
	if i == 0 && len(d.Runs) > 1 {
		line.Width, line.Color = 5, hex(pale(runColor(d, i)))
	}
	return line
}

// symbolFor marks a single point, which has no line.
func symbolFor(r *widgets.RunRow) string {
	if len(r.Loss) == 1 {
		return "circle"
	}
	return "none"
}

// differencePoints are exponents of ten; the third value is what the tooltip says.
func differencePoints(r *widgets.RunRow, limit int) []opts.LineData {
	var out []opts.LineData
	for _, i := range everyNth(len(r.Diff), limit) {
		if e, ok := exponent(r.Diff[i]); ok {
			out = append(out, opts.LineData{Value: []any{r.Step(i), round(e), widgets.RelativeText(r.Diff[i])}})
		} else {
			out = append(out, opts.LineData{Value: []any{r.Step(i), "-"}})
		}
	}
	return out
}

// lossPoints are the points of a curve; where the loss is not finite there is a gap.
func lossPoints(r *widgets.RunRow, limit int) []opts.LineData {
	var out []opts.LineData
	for _, i := range everyNth(len(r.Loss), limit) {
		v := r.Loss[i]
		var y any
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			y = "-" // ECharts' word for no value
		} else {
			y = significant(float64(v))
		}
		out = append(out, opts.LineData{Value: []any{r.Step(i), y}})
	}
	return out
}

// round keeps three decimals of an exponent.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// significant keeps six significant digits, as many as a tooltip shows.
func significant(v float64) float64 {
	if v == 0 {
		return 0
	}
	e := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	if r := math.Round(v*e) / e; !math.IsNaN(r) && !math.IsInf(r, 0) {
		return r
	}
	return v
}
