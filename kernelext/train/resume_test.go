package train

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
)

// TestResumeInAnotherPrecision: the error names the one that the checkpoint was made with, whether it says so or, as older ones, by its scaler.
func TestResumeInAnotherPrecision(t *testing.T) {
	for _, made := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
		file := filepath.Join(t.TempDir(), "run.safetensors")
		c := small("gpt", made, 1)
		c.Save = file
		if _, err := Run(context.Background(), c, nil); err != nil {
			t.Fatal(err)
		}
		for _, dt := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
			c := small("gpt", dt, 1)
			c.Resume = file
			_, err := Run(context.Background(), c, nil)
			want := "was made with --precision " + made.String() + ", not " + dt.String()
			if (err == nil) != (dt == made) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("made in %v, resumed in %v: %v", made, dt, err)
			}
		}
	}
	for enabled, want := range map[bool]string{true: "float16", false: ""} {
		file := filepath.Join(t.TempDir(), "old.safetensors")
		if err := checkpoint.Save(file, checkpoint.Parts{Scaler: amp.NewGradScaler(amp.ScalerEnabled(enabled))}); err != nil {
			t.Fatal(err)
		}
		if got, err := precisionOf(file); err != nil || got != want {
			t.Errorf("an old file with a scaler that is enabled: %v is of %q, %v; want %q", enabled, got, err, want)
		}
	}
}

// TestUnwritableCheckpoint: it is found before the first step.
func TestUnwritableCheckpoint(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none", "run")} {
		c := small("gpt", amp.Float32, 1)
		c.Save = path
		if _, err := Run(context.Background(), c, func(Progress) { t.Error("a step was taken") }); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
