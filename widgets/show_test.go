package widgets

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// A displayData and a commValue are what GoNB reads from its pipe. Its own types would do, but this program must not have GoNB's
// module in it, as cells have not.
type displayData struct {
	Data      map[string]any
	Metadata  map[string]any
	DisplayID string
}

type commValue struct {
	Address string
	Request bool
	Value   any
}

// childEnv makes the test binary a cell's program: it shows what the variable says and ends.
const childEnv = "HALFTONE_TEST_SHOW"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "figures":
		Show(Decisions(sample.MLP(2)), nil, ScaleHistory(sample.Steady()))
	case "drawn":
		RegisterRenderer(func(f *Figure) (map[string]any, error) {
			return map[string]any{"text/html": "<b>" + f.Title + "</b>", "image/png": "aGk=", MIME: json.RawMessage(`{}`), "x/y": map[string]int{"a": 1}}, nil
		})
		Show(Compare(threeRuns()...))
	case "failing":
		RegisterRenderer(func(*Figure) (map[string]any, error) { return nil, errors.New("no ink") })
		Show(Compare(threeRuns()...))
	case "live", "live break":
		liveChild(os.Getenv(childEnv))
	case "own":
		Show(Own("Counts", histogram{1, 2}))
	case "nothing":
		Show()
	default:
		os.Exit(m.Run())
	}
}

// shown runs a cell's program and returns what it printed; with a notebook, also the outputs that GoNB would have got.
func shown(t *testing.T, what string, notebook bool, env ...string) (stdout, stderr string, outputs []*displayData) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childEnv+"="+what)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	done := make(chan []*displayData, 1)
	if notebook {
		cmd.Env = append(cmd.Env, fakeGoNB(t, done)...)
	} else {
		cmd.Env = append(cmd.Env, "GONB_PIPE=")
		done <- nil
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	select {
	case outputs = <-done:
	case <-time.After(time.Minute):
		t.Fatal("the pipe was not closed")
	}
	return out.String(), errs.String(), outputs
}

// fakeGoNB reads outputs from a pipe as GoNB does, with the types that GoNB knows, and answers synchronization.
func fakeGoNB(t *testing.T, done chan<- []*displayData) (env []string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("GoNB needs named pipes")
	}
	dir := t.TempDir()
	to, back := filepath.Join(dir, "to"), filepath.Join(dir, "back")
	for _, p := range []string{to, back} {
		if err := makePipe(p); err != nil {
			t.Skip("no named pipes here:", err)
		}
	}
	gob.RegisterName("github.com/janpfeifer/gonb/gonbui/protocol.CommValue", commValue{})
	go func() {
		var got []*displayData
		defer func() { done <- got }()
		r, err := os.Open(to)
		if err != nil {
			return
		}
		defer r.Close()
		var answer *gob.Encoder // which a program that has not asked anything does not listen to
		in := gob.NewDecoder(r)
		for {
			d := new(displayData)
			if err := in.Decode(d); err != nil {
				if !errors.Is(err, io.EOF) {
					got = append(got, &displayData{Metadata: map[string]any{"error": err.Error()}})
				}
				return
			}
			if c, ok := d.Data["gonb/comm_value"]; ok {
				v := c.(commValue)
				if answer == nil {
					w, err := os.OpenFile(back, os.O_WRONLY, 0)
					if err != nil {
						return
					}
					defer w.Close()
					answer = gob.NewEncoder(w)
				}
				if err := answer.Encode(&commValue{Address: "#gonbui/sync_ack", Value: v.Value}); err != nil {
					return
				}
				continue
			}
			got = append(got, d)
		}
	}()
	return []string{"GONB_PIPE=" + to, "GONB_PIPE_BACK=" + back}
}

func TestShowPrintsTextOutsideNotebooks(t *testing.T) {
	out, errs, _ := shown(t, "figures", false)
	for _, want := range []string{"Precision decisions", "nil figure", "Steady at 65,536"} {
		if !strings.Contains(out, want) {
			t.Errorf("printed %q without %q", out, want)
		}
	}
	if errs != "" {
		t.Error(errs)
	}
	if out, _, _ := shown(t, "nothing", false); out != "" {
		t.Errorf("nothing printed %q", out)
	}
}

func TestShowInNotebook(t *testing.T) {
	out, errs, outputs := shown(t, "figures", true)
	if out != "" || errs != "" || len(outputs) != 3 {
		t.Fatalf("printed %q and %q, %d outputs", out, errs, len(outputs))
	}
	for i, kind := range []string{KindDecisions, KindDecisions, KindScaleHistory} {
		d := outputs[i].Data
		raw, ok := d[MIME].(string)
		f, err := Parse([]byte(raw))
		if !ok || err != nil || f.Kind != kind {
			t.Fatalf("output %d: %T, %v", i, d[MIME], err)
		}
		if d["text/plain"] != f.Text() || len(d) != 2 {
			t.Errorf("output %d has %d types, text %q", i, len(d), d["text/plain"])
		}
	}
}

func TestShowLeavesMeasurementsOutWhenAsked(t *testing.T) {
	_, _, outputs := shown(t, "figures", true, StableEnv+"=1")
	f, err := Parse([]byte(outputs[0].Data[MIME].(string)))
	if err != nil || f.Volatile != nil || strings.Contains(f.Text(), "tracing cost") {
		t.Errorf("%v, %+v", err, f.Volatile)
	}
}

// TestShowDraws: a registered renderer's faces go along, but only types that GoNB's wire format knows.
func TestShowDraws(t *testing.T) {
	_, errs, outputs := shown(t, "drawn", true)
	if len(outputs) != 1 || errs != "" {
		t.Fatal(outputs, errs)
	}
	d := outputs[0].Data
	if d["text/html"] != "<b>Did AMP change the result?</b>" || d["image/png"] != "aGk=" || len(d) != 4 {
		t.Errorf("%v", d)
	}
	if _, ok := d[MIME].(string); !ok {
		t.Errorf("the figure's JSON is a %T", d[MIME])
	}
}

func TestShowSurvivesARendererThatFails(t *testing.T) {
	_, errs, outputs := shown(t, "failing", true)
	if len(outputs) != 1 || len(outputs[0].Data) != 2 || !strings.Contains(errs, "no ink") {
		t.Errorf("%v, %q", outputs, errs)
	}
}
