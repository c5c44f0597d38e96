package render

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/widgets"
)

// The table of products: what numbers of 8 bits and less would do to the loss in each. The stronger a color, the more of its column's error
// comes from there.

// recipeHeat is the color of the cells that most of the error comes from, and how much of it they have.
var recipeHeat = purple

const recipeHeatMost = 0.75

// maxRecipeTable is the number of rows of the table; the JSON has all.
const maxRecipeTable = 10

// heat is how much of its color a cell has that makes a part, from 0 to 1, of its column's error.
func heat(part float64) float64 { return math.Round(100*recipeHeatMost*math.Sqrt(part)) / 100 }

// recipeRows lists the products that are drawn, in order: of too many those that matter most by the first recipe.
func recipeRows(d *widgets.RoundingData, most int) []int {
	rows := d.Products()
	if len(rows) <= most {
		return rows
	}
	spread := func(i int) float64 { o, _ := d.Rows[i].Recipe(d.Recipes[0].Recipe); return float64(o.Spread) }
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(spread(b), spread(a)) })
	rows = rows[:most]
	slices.Sort(rows)
	return rows
}

// recipesHTML writes the table.
func recipesHTML(p *page, d *widgets.RoundingData) {
	heads := d.RecipeHeads()
	if heads == nil {
		return
	}
	p.note("Each product's operands read by the recipe, its result in 16 bits. The stronger a color, the more of its column's error comes from there.")
	p.table("What shorter numbers would do to the loss")
	p.printf(`<th scope="col" style="%s">Product</th><th scope="col" style="%s">Module</th>`, stHead, stHead)
	for _, h := range heads {
		p.printf(`<th scope="col" style="%s">%s</th>`, stHeadNum, esc(h))
	}
	p.WriteString(`</tr></thead><tbody>`)
	rows := recipeRows(d, maxRecipeTable)
	for _, i := range rows {
		r := &d.Rows[i]
		p.printf(`<tr style="%s"><th scope="row" style="%s;font-weight:normal"><strong>%s</strong> <span style="%s">%s</span></th><td style="%s">%s</td>`,
			stRow, stCell, esc(r.OpText()), stMuted, unbroken(r.Where), stCell, unbroken(r.Module))
		texts, parts := d.RecipeCells(i)
		for k, text := range texts {
			p.printf(`<td style="%s%s">%s</td>`, stNumber, heatHTML(parts[k]), errorsHTML(text))
		}
		p.WriteString(`</tr>`)
	}
	if left := len(d.Products()) - len(rows); left > 0 {
		p.printf(`<tr style="%s"><td colspan="%d" style="%s">… and %s that matter less</td></tr>`, stRow, len(heads)+2, stCell, moreRows(left))
	}
	p.WriteString(`</tbody></table></div>`)
}

// heatHTML colors a cell; none that makes less than a hundredth of its column.
func heatHTML(part float64) string {
	if part < 0.01 {
		return ""
	}
	c := recipeHeat
	return fmt.Sprintf(";background-color:rgba(%d,%d,%d,%g)", c.R, c.G, c.B, heat(part))
}
