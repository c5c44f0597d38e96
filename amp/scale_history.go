package amp

// ScaleHistorySchema names the JSON form of a ScaleHistory.
const ScaleHistorySchema = "halftone.scale_history/1"

// A ScaleHistory is a GradScaler's settings and what became of every optimizer step: plain data for figures and logs.
type ScaleHistory struct {
	Schema         string      `json:"schema"` // ScaleHistorySchema
	Enabled        bool        `json:"enabled"`
	InitScale      float64     `json:"init_scale"`
	GrowthFactor   float64     `json:"growth_factor"`
	BackoffFactor  float64     `json:"backoff_factor"`
	GrowthInterval int         `json:"growth_interval"`
	MinScale       float64     `json:"min_scale,omitempty"` // 0: no floor, the reference's arithmetic
	Note           string      `json:"note,omitempty"`      // what a reader must know, e.g. that %amp set the first scale
	Scale          float64     `json:"scale"`               // now
	GrowthTracker  int         `json:"growth_tracker"`      // clean updates since the last change
	Nominal        int         `json:"nominal_steps"`       // steps of training: Updates after a Step of one optimizer or several
	Skipped        int         `json:"skipped_steps"`       // of them those in which an optimizer was skipped; effective = nominal - skipped
	Steps          []ScaleStep `json:"steps"`               // oldest first; thinned when long, every skip is kept
}

// A ScaleStep is one GradScaler.Step and the Update that followed it.
type ScaleStep struct {
	Step      int     `json:"step"`                // counts this scaler's Updates, from 0: several optimizers step in one
	Optimizer string  `json:"optimizer,omitempty"` // name when there are several
	Scale     float64 `json:"scale"`               // scale the gradients had
	Next      float64 `json:"next"`                // scale after Update
	Tracker   int     `json:"tracker"`             // growth tracker after Update
	Applied   bool    `json:"applied"`             // weights moved
	Culprit   string  `json:"culprit,omitempty"`   // first parameter with a non-finite gradient
	Value     string  `json:"value,omitempty"`     // what was found there: "+Inf", "-Inf" or "NaN"
	Warning   string  `json:"warning,omitempty"`   // e.g. the scale collapses

	fatal string // why backing off can't help, for Err
}
