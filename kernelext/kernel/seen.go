package kernel

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/halftone-ml/halftone/widgets"
)

// seenFigures remembers the last figures on their way to the front end that say how training goes: what the side panel shows.
type seenFigures struct {
	mu    sync.Mutex
	live  *widgets.Figure
	since time.Time // when live was seen
	scale *widgets.Figure
}

// take looks at any figure.
func (s *seenFigures) take(raw json.RawMessage) {
	var head struct{ Schema, Kind string }
	if json.Unmarshal(raw, &head) != nil || head.Schema != widgets.Schema || head.Kind != widgets.KindLive && head.Kind != widgets.KindScaleHistory {
		return
	}
	f, err := widgets.Parse(raw)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Live != nil {
		s.live, s.since = f, time.Now()
	} else {
		s.scale = f
	}
}

// liveStatus is what is told of the last live figure, scaleStatus of the last scale history.
type (
	liveStatus struct {
		Title    string         `json:"title"`
		State    string         `json:"state"`
		Sentence string         `json:"sentence"`
		Device   string         `json:"device,omitempty"`
		Step     int            `json:"step"`
		Total    int            `json:"total,omitempty"`
		Loss     widgets.Number `json:"loss"`
		Scale    widgets.Number `json:"scale,omitempty"`
		Skipped  int            `json:"skipped"`
		Bytes    int64          `json:"bytes,omitempty"`
		Peak     int64          `json:"peak,omitempty"`
		AgeMS    int64          `json:"age_ms"` // since it was seen
	}
	scaleStatus struct {
		Scale    widgets.Number `json:"scale"`
		Verdict  string         `json:"verdict"`
		Sentence string         `json:"sentence"`
	}
)

func (s *seenFigures) status() (live *liveStatus, scale *scaleStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.live; f != nil {
		d := f.Live
		live = &liveStatus{
			Title: f.Title, State: d.State, Sentence: d.Sentence, Device: d.Device, Step: d.Step, Total: d.Total, Loss: d.Loss, Scale: d.Scale, Skipped: d.Skipped,
			AgeMS: time.Since(s.since).Milliseconds(),
		}
		if v := f.Volatile; v != nil {
			live.Bytes, live.Peak = v.Bytes, v.PeakBytes
		}
	}
	if f := s.scale; f != nil {
		scale = &scaleStatus{f.Scale.Scale, f.Scale.Verdict, f.Scale.Sentence}
	}
	return live, scale
}
