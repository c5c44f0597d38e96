package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/magic"
)

// talkTarget is the comm target that the notebook extension opens when a user asks for something: see labextension/README.md for the
// messages. The kernel answers them itself, also while a cell runs; no cell ever waits for one.
const talkTarget = "halftone.v1"

// talkVersions are the versions of the messages that are known here, best first.
var talkVersions = []int{1}

const (
	maxTalks = 32       // comms at a time: every page that was ever open may have left one
	maxAsk   = 96 << 10 // bytes of one message
)

// An ask is a message of a front end. Members that its type does not use are ignored.
type ask struct {
	ID    int64   `json:"id"`
	Type  string  `json:"type"`
	Op    string  `json:"op"`    // force
	To    string  `json:"to"`    // force: as behind the = of %amp force, or "default"
	First float64 `json:"first"` // scale: the first loss scale; 0: none
	whatIfAsk
}

// openTalk takes up a comm of the extension, or says that no version of the messages is known on both sides.
func (k *kernel) openTalk(m *message, id string) {
	var c struct {
		Data struct{ Versions []int }
	}
	if len(m.content) > maxAsk || json.Unmarshal(m.content, &c) != nil {
		c.Data.Versions = nil
	}
	i := slices.IndexFunc(talkVersions, func(v int) bool { return slices.Contains(c.Data.Versions, v) })
	if i < 0 {
		k.tell(m, id, map[string]any{"type": "error", "id": 0, "name": "version", "detail": fmt.Sprintf("this kernel knows version %d of the messages, the page others", talkVersions[0]), "fix": "update Halftone and load the page again"})
		return
	}
	k.forget(id)
	k.comms[id] = talkTarget
	if k.talks = append(k.talks, id); len(k.talks) > maxTalks {
		k.forget(k.talks[0])
	}
	k.tell(m, id, map[string]any{"type": "hello", "version": talkVersions[i], "kernel": k.opts.Version})
}

// onStranger answers a message of the extension on a comm that is not known: one of many that were open, or of a kernel before
// this one. (A comm_close would go to all pages, and those that do not know the comm would complain.)
func (k *kernel) onStranger(m *message, id string) {
	var c struct{ Data ask }
	if m.kind == "comm_msg" && len(m.content) <= maxAsk && json.Unmarshal(m.content, &c) == nil && c.Data.Type != "" {
		k.tell(m, id, map[string]any{"type": "error", "id": c.Data.ID, "name": "closed", "detail": "the kernel does not know this connection", "fix": "ask again"})
	}
}

// forget takes a comm out of the tables.
func (k *kernel) forget(id string) {
	delete(k.comms, id)
	k.talks = slices.DeleteFunc(k.talks, func(other string) bool { return other == id })
}

func (k *kernel) tell(parent *message, id string, data map[string]any) {
	k.publish("comm_msg", parent, map[string]any{"comm_id": id, "data": data})
}

// onTalk answers a message of the extension. What takes more than a moment is done on a goroutine of its own.
func (k *kernel) onTalk(m *message, id string) {
	var c struct{ Data ask }
	var err error
	if len(m.content) > maxAsk {
		err = fmt.Errorf("the message has %d bytes, at most %d are read", len(m.content), maxAsk)
	} else if e := json.Unmarshal(m.content, &c); e != nil {
		err = fmt.Errorf("the message cannot be read: %w", e)
	}
	a := c.Data
	var out map[string]any
	if err == nil {
		switch a.Type {
		case "status":
			k.tellStatus(m, id, a.ID)
			return
		case "force":
			out, err = k.forceFor(a)
		case "scale":
			out, err = k.scaleFor(a)
		case "whatif":
			out, err = whatIf(a.whatIfAsk)
		default:
			err = fmt.Errorf("%.40q is no type of message: status, force, scale and whatif are", a.Type)
		}
	}
	if err != nil {
		out = errorAnswer(err)
	} else {
		out["type"] = a.Type
	}
	out["id"] = a.ID
	k.tell(m, id, out)
}

// errorAnswer words what is wrong with a message.
func errorAnswer(err error) map[string]any {
	out := map[string]any{"type": "error", "detail": err.Error()}
	var wrong *magic.Error
	if errors.As(err, &wrong) {
		out["detail"], out["fix"] = wrong.Detail, wrong.Fix
	}
	return out
}

// forceFor changes the session's policy as `%amp force` does.
func (k *kernel) forceFor(a ask) (map[string]any, error) {
	before, err := k.magics.Force(a.Op, a.To)
	if err != nil {
		return nil, err
	}
	return map[string]any{"op": a.Op, "before": before, "forced": forcedNow(k.magics.Settings())}, nil
}

func forcedNow(s magic.Settings) map[string]string {
	if s.Force == nil {
		return map[string]string{}
	}
	return s.Force
}

// scaleFor changes where loss scales start, as `%amp scale` does.
func (k *kernel) scaleFor(a ask) (map[string]any, error) {
	before, err := k.magics.FirstScale(a.First)
	if err != nil {
		return nil, err
	}
	return map[string]any{"before": before, "first": a.First}, nil
}

// tellStatus answers with what is set, what lives between cells and how training goes. The store and the processes are looked at
// on another goroutine.
func (k *kernel) tellStatus(m *message, id string, ask int64) {
	out := map[string]any{
		"type": "status", "id": ask, "running": k.current != nil && k.current.m.kind == "execute_request", "waiting": len(k.queue), "count": k.cells.next - 1,
	}
	session := 0
	if k.child != nil {
		session = k.child.cmd.Process.Pid
	}
	go func() {
		s := k.magics.State()
		live, scale := k.draw.seen.status()
		out["device"], out["forced"], out["scaling"], out["first_scale"] = s.Device, forcedNow(magic.Settings{Defaults: amp.Defaults{Force: s.Forced}}), s.Scaling, s.Scale
		out["objects"], out["object_bytes"], out["live"], out["scale_history"] = s.Objects, s.Bytes, live, scale
		out["process_bytes"] = sessionMemory(session)
		k.do(func() {
			if k.comms[id] == talkTarget {
				k.tell(m, id, out)
			}
		})
	}()
}
