package train

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/safetensors"
	"github.com/halftone-ml/halftone/internal/wholefile"
)

// parts are what a checkpoint of a run restores.
func (t *trainer) parts() checkpoint.Parts {
	return checkpoint.Parts{
		Model: t.e.model(), Optimizer: t.opt, Scheduler: t.schedule, Scaler: t.scaler, Random: t.root.Random(), Loader: t.e.loader(),
		Values: map[string]any{"step": &t.done, "steps": &t.planned},
	}
}

// save writes the checkpoint, which says in which precision it trained.
func (t *trainer) save() error {
	p := t.parts()
	p.Values["precision"] = t.c.Name()
	return checkpoint.Save(t.c.Save, p)
}

// resume loads a checkpoint and refuses one of another run: in another precision it would not be this one that goes on.
func (t *trainer) resume() error {
	made, err := precisionOf(t.c.Resume)
	if err != nil {
		return err
	}
	if made == "" && t.c.Precision == amp.Float16 {
		made = amp.Float32.String() // or bfloat16
	}
	if made != "" && made != t.c.Name() {
		return fmt.Errorf("%s was made with --precision %s, not %s; go on with that", t.c.Resume, made, t.c.Name())
	}
	if err := checkpoint.Load(t.c.Resume, t.parts()); err != nil {
		return err
	}
	if t.planned != t.c.Steps {
		return fmt.Errorf("the run was begun for %d steps, and its learning rates follow that; go on with as many, not %d", t.planned, t.c.Steps)
	}
	return nil
}

// precisionOf reads in which precision a checkpoint was made. Files written before that was saved tell float16 by its scaler, and give ""
// for the others.
func precisionOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	file, err := safetensors.NewReader(f, info.Size())
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	metadata := file.Metadata()
	var made string
	if text, ok := metadata["value.precision"]; ok {
		err = json.Unmarshal([]byte(text), &made)
		return made, err
	}
	if metadata["scaler"] != "" && metadata["scaler"] != "null" {
		return amp.Float16.String(), nil
	}
	return "", nil
}

// writable checks, before anything is computed, that a checkpoint can be written.
func writable(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder, and the checkpoint needs a file: name one in it", path)
	}
	if err := wholefile.Writable(path); err != nil {
		return fmt.Errorf("the checkpoint cannot be written: %w; name a file in a folder that is there and can be written to", err)
	}
	return nil
}
