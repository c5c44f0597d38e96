package kernel

import (
	"fmt"
	"strings"
	"time"
)

// onStarted takes over a GoNB that has been started, or fails the requests that wait for one that cannot be.
func (k *kernel) onStarted(n int, c *child, err error) {
	if err != nil {
		k.failures++
		k.why = err
		if k.failures < 3 && k.life.Err() == nil {
			k.startChild()
			return
		}
		k.state = broken
		k.pump()
		return
	}
	k.child = c
	take := func(ch channel, m *message) {
		taken := k.do(func() {
			if k.number == n {
				k.fromChild(ch, m)
			}
		})
		if !taken && m.kind == "update_display_data" { // the last state of a live figure, at the end of the kernel
			k.front.iopub.send(m)
		}
	}
	k.output = newPipeline(k.draw, k.author, k.cells.file, k.opts.Checkout, func(m *message) { take(iopubChannel, m) }, func(m *message) { take(shellChannel, m) })
	output := k.output
	brake := &brake{gonb: c.cmd.Process.Pid}
	c.read(k.key, func(ch channel, m *message) {
		if ch == iopubChannel && m.kind == "stream" {
			brake.count()
		}
		if ch == iopubChannel || ch == shellChannel && isCellReply(m) {
			output.put(m)
		} else {
			take(ch, m)
		}
	})
	go func() {
		<-c.exited
		// What it said last comes before the news of its death; the sockets end with the process.
		go func() { c.readers.Wait(); output.end() }()
		select {
		case <-output.done:
		case <-time.After(drawTimeout):
		}
		k.do(func() { k.onExit(n, c) })
	}()
	k.probe()
}

// probe asks GoNB something harmless. Its answer on iopub proves that our subscription has arrived there: before that,
// the first cell's output could be lost.
func (k *kernel) probe() {
	m := k.author.compose("kernel_info_request", nil, map[string]any{})
	k.probes[m.id] = true
	k.child.shell.send(m.frames())
}

// onTick runs ten times a second.
func (k *kernel) onTick() {
	if k.state == starting && k.child != nil {
		if time.Since(k.child.started) > startTimeout {
			k.why = errNotReady
			c := k.child
			c.ended = fmt.Sprintf("it did not answer within %v", startTimeout)
			go c.kill() // onExit follows
		} else {
			k.probe()
		}
	}
	k.keepInterrupting()
	k.checkCurrent()
	k.warm()
}

func (k *kernel) fromChild(ch channel, m *message) {
	parent := m.parentID()
	if r := k.current; r != nil && r.foreign && parent == r.m.id {
		m = m.withParent(r.m.header, k.key)
	}
	if k.probes[parent] {
		if ch == iopubChannel && k.state == starting {
			k.onReady()
		}
		return
	}
	switch ch {
	case shellChannel:
		if m.kind == "comm_close" { // GoNB's only one goes out on the wrong channel
			m.ids = [][]byte{[]byte("comm_close")}
			k.followComm(m)
			k.front.iopub.send(m)
			return
		}
		k.onReply(parent, m)
	case controlChannel:
		k.front.control.send(m)
	case stdinChannel:
		k.onInputRequest(parent, m)
	case iopubChannel:
		k.followComm(m)
		if r := k.current; m.kind == "error" && r != nil && r.verdict != nil && r.m.id == parent {
			m = m.withContent(mustJSON(r.verdict), k.key)
		}
		m = k.magicInput(parent, m)
		if r := k.current; r != nil && r.skips && r.m.id == parent && r.replied.IsZero() && isIdle(m) {
			r.lastIdle = m // an error may have to come before it
		} else if !k.isSilenced(parent, m) {
			k.front.iopub.send(m)
		}
		k.showMagics(parent, m)
		k.onPublished(parent, m)
	}
}

// onReady begins to serve once GoNB answers.
func (k *kernel) onReady() {
	k.state, k.active = ready, time.Now()
	if err := seedSums(k.child.tmp, k.opts.Checkout); err != nil {
		k.logf("cells need the network for modules: %v", err)
	}
	k.cgo.on, k.declares = false, false // a new GoNB
	k.prelude()
	k.catchUp()
	k.pump()
}

// catchUp brings the execution counter of a new GoNB to where that of the dead one was: a cell of nothing counts, too.
func (k *kernel) catchUp() {
	want := k.cells.next - 1
	if len(k.queue) > 0 && k.queue[0].kept {
		want-- // it comes again
	}
	for ; k.counter < want; k.counter++ {
		m := k.author.compose("execute_request", nil, map[string]any{
			"code": "", "silent": true, "store_history": true, "allow_stdin": false, "stop_on_error": false,
		})
		k.probes[m.id] = true
		k.child.shell.send(m.frames())
	}
}

// onExit deals with a GoNB that has ended though nobody asked it to.
func (k *kernel) onExit(n int, c *child) {
	if k.number != n {
		return
	}
	c.release()
	k.logf("GoNB %s", c.reason())
	// One that has been of no use is not started again for ever.
	useful := k.state == ready && (time.Since(c.started) > usefulAge || k.current != nil && k.current.begun)
	if useful {
		k.failures = 0
	} else {
		k.failures++
		k.why = c.end() // the tries before have ended by the same
	}
	k.lost = fmt.Sprintf("GoNB, which runs the cells, %s and has been started again. What earlier cells declared is gone: run them again.\n", c.reason())
	if len(k.cells.cells) == 0 {
		k.lost = "" // nothing had been declared
	}
	if r := k.current; r != nil && !r.begun && !r.m.again {
		r.m.again = true // it was on its way when GoNB died of something else
		k.current, k.queue = nil, append([]*message{r.m}, k.queue...)
	} else if r != nil {
		k.lost = ""
		text := fmt.Sprintf("GoNB, which runs the cells, %s.\nIt is being started again. What earlier cells declared is gone: run them again.\n", c.reason())
		if log := lastPanic(c.tail.String()); log != "" {
			text += "The end of its log:\n" + log + "\n"
		}
		k.fail(r, "KernelDied", "GoNB "+c.reason()+"; what earlier cells declared is gone", text)
	}
	if k.failures >= 3 {
		k.state, k.child = broken, nil
		k.pump()
		return
	}
	k.startChild()
}

// usefulAge is how old a GoNB is whose death is no sign that the next one will die, too.
const usefulAge = 5 * time.Second

// lastPanic returns the part of a log from its last panic or fatal error on, up to where the goroutine was that had it: the rest
// tells a user nothing.
func lastPanic(log string) string {
	at := max(strings.LastIndex(log, "panic: "), strings.LastIndex(log, "fatal error: "))
	if at < 0 {
		return ""
	}
	parts := strings.SplitN(log[at:], "\n\n", 3)
	return strings.Join(parts[:min(2, len(parts))], "\n\n")
}
