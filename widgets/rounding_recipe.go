package widgets

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// A RoundingRecipe is what reading shorter numbers by a recipe would do to the loss: of a product or, in [RoundingData], of all.
type RoundingRecipe struct {
	Recipe string `json:"recipe"` // such as "fp8-row"
	Spread Number `json:"spread"`
	Over   int    `json:"over,omitempty"` // numbers that the dtype they would be kept in can't hold
}

// maxRecipes is the most recipes that a figure has.
const maxRecipes = 8

// Text writes the size of what would be: "8.1e-4", or "overflows".
func (o RoundingRecipe) Text() string {
	if o.Over > 0 {
		return "overflows"
	}
	return ErrorText(float64(o.Spread))
}

// Recipe returns what the row would do by a recipe; false where that is not known, as of what is no product.
func (r *RoundingRow) Recipe(name string) (RoundingRecipe, bool) {
	for _, o := range r.Recipes {
		if o.Recipe == name {
			return o, true
		}
	}
	return RoundingRecipe{Recipe: name}, false
}

// Products lists the rows that recipes are known of, in the program's order.
func (d *RoundingData) Products() (rows []int) {
	for i := range d.Rows {
		if len(d.Rows[i].Recipes) > 0 {
			rows = append(rows, i)
		}
	}
	return rows
}

// casts lists the rows of the casts for an op.
func (d *RoundingData) casts(of int) (rows []int) {
	r := &d.Rows[of]
	for i := range d.Rows {
		if c := &d.Rows[i]; c.For != "" && c.For == r.Op && c.Module == r.Module && c.Where == r.Where {
			rows = append(rows, i)
		}
	}
	return rows
}

// AsNow is what a product and its casts do to the loss as the program ran; of a program in float32, what they would in the dtype that the
// figure is about, which it returns, too.
func (d *RoundingData) AsNow(product int) (size float64, dt amp.DType) {
	r := &d.Rows[product]
	if dt = d.Lower(); dt != amp.NoDType {
		if o, ok := r.In(amp.BFloat16); ok {
			dt = amp.BFloat16 // that of the recipes
			return float64(o.Spread), dt
		}
		o, _ := r.In(dt)
		return float64(o.Spread), dt
	}
	size = float64(r.Spread)
	for _, i := range d.casts(product) {
		size = math.Hypot(size, float64(d.Rows[i].Spread))
	}
	return size, dt
}

// WithRecipe is the size of the loss's error to be expected with all products but some read by a recipe, and all else as it ran.
func (d *RoundingData) WithRecipe(name string, but ...int) float64 {
	size, drawn := map[int]float64{}, 0.0
	for _, i := range d.Products() {
		o, ok := d.Rows[i].Recipe(name)
		if !ok {
			continue
		}
		if drawn = math.Hypot(drawn, float64(o.Spread)); slices.Contains(but, i) {
			continue
		}
		for _, c := range d.casts(i) {
			size[c] = 0
		}
		size[i] = float64(o.Spread)
	}
	all := float64(d.MoreSpread)
	if k := slices.IndexFunc(d.Recipes, func(o RoundingRecipe) bool { return o.Recipe == name }); k >= 0 && d.More > 0 { // products among the rows left out
		total := float64(d.Recipes[k].Spread)
		all = math.Hypot(all, total*math.Sqrt(max(0, 1-part(drawn, total))))
	}
	for i := range d.Rows {
		v, ok := size[i]
		if !ok {
			v = float64(d.Rows[i].Spread)
		}
		all = math.Hypot(all, v)
	}
	return all
}

// shorter says what shorter numbers would do to the loss, and which product is most of it; "" where no product is of sizes that they take.
func (d *RoundingData) shorter() string {
	products := d.Products()
	if len(products) == 0 || d.Bad {
		return ""
	}
	var says, names []string
	for k, o := range d.Recipes {
		names = append(names, o.Recipe)
		now := ErrorText(d.WithRecipe(o.Recipe))
		if k+1 < len(d.Recipes) && ErrorText(d.WithRecipe(d.Recipes[k+1].Recipe)) == now {
			continue
		}
		if len(says) == 0 {
			now = "an error of about " + now
		}
		says = append(says, "in "+either(names)+" "+now)
		names = nil
	}
	s := fmt.Sprintf("With its %s %s is to be expected", plural(len(products), "product"), strings.Join(says, ", "))
	if now, dt := d.productsNow(products); dt != amp.NoDType {
		s += fmt.Sprintf("; in %v %s", dt, ErrorText(now))
	} else {
		s += fmt.Sprintf("; now %s", ErrorText(now))
	}
	return s + "." + d.leaveText(d.Recipes[0].Recipe, products)
}

// either is "a, b or c".
func either(names []string) string {
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " or " + names[n]
	}
	return names[0]
}

// productsNow is the error to be expected as the program ran, or with its products in the dtype that the figure is about.
func (d *RoundingData) productsNow(products []int) (float64, amp.DType) {
	_, dt := d.AsNow(products[0])
	if dt == amp.NoDType {
		return d.all(amp.NoDType), dt
	}
	return d.With(dt, products...), dt
}

// leaveText names the product that most of a recipe's error comes from, if one of several does.
func (d *RoundingData) leaveText(name string, products []int) string {
	if len(products) < 2 {
		return ""
	}
	spread := func(i int) float64 { o, _ := d.Rows[i].Recipe(name); return float64(o.Spread) }
	most := slices.MaxFunc(products, func(a, b int) int { return cmp.Compare(spread(a), spread(b)) })
	share := part(spread(most), d.WithRecipe(name))
	if share < 1.0/3 {
		return ""
	}
	s := fmt.Sprintf(" %s of that in %s comes from %s", capital(share01(share)), name, d.Rows[most].Place())
	if d.Rows[most].Module != "" {
		s += fmt.Sprintf("; with that module left as it is, %s", ErrorText(d.WithRecipe(name, most)))
	}
	return s + "."
}

// RecipeHeads are the columns of the table of products: how they ran, or the dtype that recipes are held against, and the recipes.
func (d *RoundingData) RecipeHeads() (heads []string) {
	products := d.Products()
	if len(products) == 0 || d.Bad { // what the derivative of such a loss says is little
		return nil
	}
	if _, dt := d.AsNow(products[0]); dt != amp.NoDType {
		heads = append(heads, dt.Short())
	} else {
		heads = append(heads, "now")
	}
	for _, o := range d.Recipes {
		heads = append(heads, o.Recipe)
	}
	return heads
}

// RecipeCells are a product's cells of that table: what each would do, and its part, from 0 to 1, of what all products would in its column.
func (d *RoundingData) RecipeCells(product int) (texts []string, parts []float64) {
	all := 0.0
	for _, i := range d.Products() {
		now, _ := d.AsNow(i)
		all = math.Hypot(all, now)
	}
	now, _ := d.AsNow(product)
	texts, parts = append(texts, ErrorText(now)), append(parts, part(now, all))
	for _, total := range d.Recipes {
		o, ok := d.Rows[product].Recipe(total.Recipe)
		if !ok {
			texts, parts = append(texts, "–"), append(parts, 0)
			continue
		}
		texts, parts = append(texts, o.Text()), append(parts, part(float64(o.Spread), float64(total.Spread)))
	}
	return texts, parts
}

// recipesText writes the table of products for a terminal.
func (d *RoundingData) recipesText(b *strings.Builder) {
	heads := d.RecipeHeads()
	if heads == nil {
		return
	}
	table := [][]string{append([]string{recipesTitle}, heads...)}
	for i := range heads {
		table[0][i+1] = strings.ToUpper(heads[i])
	}
	for _, i := range d.Products() {
		texts, _ := d.RecipeCells(i)
		table = append(table, append([]string{clip(d.Rows[i].Place(), 44)}, texts...))
	}
	writeTable(b, table)
}

// recipesTitle is the head of the table of products.
const recipesTitle = "WHAT SHORTER NUMBERS WOULD DO TO THE LOSS"

func (r *roundingFold) addRecipes(all []amp.RoundingRecipe) {
	for _, x := range all {
		k := slices.IndexFunc(r.recipes, func(o RoundingRecipe) bool { return o.Recipe == x.Recipe })
		if k < 0 {
			k = len(r.recipes)
			r.recipes = append(r.recipes, RoundingRecipe{Recipe: x.Recipe})
		}
		o := &r.recipes[k]
		o.Spread = Number(math.Hypot(float64(o.Spread), size2(x.Spread)))
		o.Over += max(x.Over, 0)
	}
}

// told returns the recipes with as many digits as a figure has.
func (r *roundingFold) told() (out []RoundingRecipe) {
	for _, o := range r.recipes[:min(len(r.recipes), maxRecipes)] {
		o.Spread = digits(float64(o.Spread), 4)
		out = append(out, o)
	}
	return out
}

func normalizeRecipes(all *[]RoundingRecipe) {
	*all = (*all)[:min(len(*all), maxRecipes)]
	for i := range *all {
		o := &(*all)[i]
		o.Recipe = clip(o.Recipe, maxName)
		normalizeSizes(&o.Spread)
		clamp(&o.Over, 0)
	}
}
