package kernel

// interrupt asks GoNB to interrupt the running cell.
func (k *kernel) interrupt() {
	if k.state != ready || k.current == nil {
		return
	}
	k.child.control.send(k.author.compose("interrupt_request", nil, map[string]any{}).frames())
}
