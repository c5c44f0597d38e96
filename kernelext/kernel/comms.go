package kernel

import (
	"encoding/json"
	"maps"
	"strings"
)

// comms is the table of open comms: id to target. GoNB has one target, for its widgets, and neither keeps a table nor
// hears of a comm that is closed; the notebook extension has another, which the kernel answers itself (talk.go).
type comms map[string]string

// gonbTarget is the target that GoNB's widgets open.
const gonbTarget = "gonb_comm"

// maxCommID bounds what a front end may call a comm; JupyterLab uses 36 characters.
const maxCommID = 200

// drop forgets all comms of a target.
func (c comms) drop(target string) {
	maps.DeleteFunc(c, func(_, t string) bool { return t == target })
}

type commContent struct {
	ID     string `json:"comm_id"`
	Target string `json:"target_name"`
	Kernel string `json:"kernel_id"`
}

// onComm takes a comm message from a front end. It passes the queue: a running cell may be waiting for it.
func (k *kernel) onComm(m *message) {
	var c commContent
	_ = json.Unmarshal(m.content, &c)
	if c.Target != talkTarget && k.comms[c.ID] != talkTarget { // an open panel asks again and again: the page's sign of a busy kernel would flicker
		k.status("busy", m)
	}
	switch {
	case c.ID == "" || len(c.ID) > maxCommID:
		k.logf("dropped a %s without a comm_id, or with one that is none", m.kind)
	case m.kind == "comm_open" && c.Target == talkTarget:
		k.openTalk(m, c.ID)
	case m.kind == "comm_open" && (c.Target != gonbTarget || c.Kernel != kernelID(k.spawn.base) || k.state != ready):
		// Who opens a comm that nobody here knows is told at once, so that both sides agree.
		k.publish("comm_close", m, map[string]any{"comm_id": c.ID, "data": map[string]any{}})
	case m.kind == "comm_open":
		k.comms.drop(gonbTarget) // GoNB has one connection: the new one takes the place of the old
		k.comms[c.ID] = c.Target
		k.toChild(k.child.shell, m)
	case k.comms[c.ID] == "":
		k.logf("dropped a %s for the unknown comm %s", m.kind, c.ID)
		k.onStranger(m, c.ID)
	case k.comms[c.ID] == talkTarget && m.kind == "comm_msg":
		k.onTalk(m, c.ID)
	case m.kind == "comm_close":
		k.forget(c.ID)
	case k.state == ready:
		k.toChild(k.child.shell, m)
	}
	k.status("idle", m)
	k.busyAgain()
}

// followComm keeps the table right about what GoNB itself does.
func (k *kernel) followComm(m *message) {
	var c commContent
	if !strings.HasPrefix(m.kind, "comm_") || json.Unmarshal(m.content, &c) != nil {
		return
	}
	switch m.kind {
	case "comm_open":
		k.comms[c.ID] = c.Target
	case "comm_close":
		delete(k.comms, c.ID)
	}
}

// info is the content of comm_info_reply.
func (c comms) info(request []byte) map[string]any {
	var want struct {
		Target string `json:"target_name"`
	}
	_ = json.Unmarshal(request, &want)
	found := map[string]any{}
	for id, target := range c {
		if want.Target == "" || want.Target == target {
			found[id] = map[string]any{"target_name": target}
		}
	}
	return map[string]any{"status": "ok", "comms": found}
}

// kernelID is the id that Jupyter gave the kernel, from the base name of its connection file.
func kernelID(base string) string {
	return strings.TrimSuffix(strings.TrimPrefix(base, "kernel-"), ".json")
}
