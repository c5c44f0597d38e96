package kernel

import (
	"encoding/json"
	"strings"
)

// comms is the table of open comms: id to target. GoNB has one target, for its widgets, and neither keeps a table nor
// hears of a comm that is closed.
type comms map[string]string

// gonbTarget is the target that GoNB's widgets open.
const gonbTarget = "gonb_comm"

type commContent struct {
	ID     string `json:"comm_id"`
	Target string `json:"target_name"`
	Kernel string `json:"kernel_id"`
}

// onComm takes a comm message from a front end. It passes the queue: a running cell may be waiting for it.
func (k *kernel) onComm(m *message) {
	k.status("busy", m)
	var c commContent
	_ = json.Unmarshal(m.content, &c)
	switch {
	case c.ID == "":
		k.logf("dropped a %s without a comm_id", m.kind)
	case m.kind == "comm_open" && (c.Target != gonbTarget || c.Kernel != kernelID(k.spawn.base) || k.state != ready):
		// Who opens a comm that nobody here knows is told at once, so that both sides agree.
		k.publish("comm_close", m, map[string]any{"comm_id": c.ID, "data": map[string]any{}})
	case m.kind == "comm_open":
		clear(k.comms) // GoNB has one connection: the new one takes the place of the old
		k.comms[c.ID] = c.Target
		k.toChild(k.child.shell, m)
	case k.comms[c.ID] == "":
		k.logf("dropped a %s for the unknown comm %s", m.kind, c.ID)
	case m.kind == "comm_close":
		delete(k.comms, c.ID)
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
