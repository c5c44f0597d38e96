package optim

import (
	"fmt"
	"slices"
)

// swaGroupsRule is SWALR with a rate for every group.
type swaGroupsRule struct {
	SWALR        []float64 `json:"swa_lr"`
	AnnealEpochs int       `json:"anneal_epochs"`
	Linear       bool      `json:"linear"`
}

// NewGroupSWALR is NewSWALR with a rate for each of the optimizer's groups, as torch's SWALR with a list. It panics with amp.ErrArgument
// unless there are as many rates as groups.
func NewGroupSWALR(opt Optimizer, lr []float64, n int, linear bool) *Schedule {
	return newSchedule(opt, &swaGroupsRule{slices.Clone(lr), n, linear})
}

func (r *swaGroupsRule) kind() string { return "SWALR" }
func (r *swaGroupsRule) fresh() rule  { return &swaGroupsRule{} }
func (r *swaGroupsRule) problem(groups int) string {
	if len(r.SWALR) != groups {
		return fmt.Sprintf("%d rates for %d groups", len(r.SWALR), groups)
	}
	for i := range r.SWALR {
		if p := r.of(i).problem(groups); p != "" {
			return p
		}
	}
	return ""
}

// of is the rule of one group.
func (r *swaGroupsRule) of(i int) *swaRule { return &swaRule{r.SWALR[i], r.AnnealEpochs, r.Linear} }

func (r *swaGroupsRule) next(s *Schedule, i int) float64 { return r.of(i).next(s, i) }
func (r *swaGroupsRule) at(s *Schedule, i int) float64   { return r.of(i).at(s, i) }
