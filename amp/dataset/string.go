package dataset

import "fmt"

// String is one line: the samples, their shape and dtype, the batches of an epoch, the order, and where the loader stands.
func (l *Loader) String() string {
	st := l.State()
	text := fmt.Sprintf("Loader(%d samples of %v %v, %d batches of %d, %s", st.Samples, l.spec.DType, l.spec.Shape, l.Len(), st.Batch, st.Order)
	if st.Order != "sequential" {
		text += fmt.Sprintf(" with seed %d", st.Seed)
	}
	if l.dropLast {
		text += ", last one dropped"
	}
	for i, t := range l.transforms {
		if i == 0 {
			text += ", transforms"
		}
		text += " " + t.Name
	}
	return text + fmt.Sprintf("; at epoch %d, sample %d)", st.Epoch, st.Position)
}
