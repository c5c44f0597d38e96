package amp

import (
	"maps"
	"sync"
)

// MemoryStats counts the tensor memory of one device.
type MemoryStats struct {
	Bytes      int64           // in use by tensors now
	Peak       int64           // most that was in use at once
	ByDType    map[DType]int64 // in use now, by dtype
	NewBuffers int64           // blocks taken from the system since the start; constant in a steady training step
	Reserved   int64           // bytes of all blocks ever taken, free ones included
}

var stats = memoryLedger{by: map[string]*MemoryStats{}}

type memoryLedger struct {
	mu sync.Mutex
	by map[string]*MemoryStats
}

func (l *memoryLedger) of(device string) *MemoryStats {
	m := l.by[device]
	if m == nil {
		m = &MemoryStats{ByDType: map[DType]int64{}}
		l.by[device] = m
	}
	return m
}

func (l *memoryLedger) newBuffer(device string, bytes int) {
	l.mu.Lock()
	m := l.of(device)
	m.NewBuffers++
	m.Reserved += int64(bytes)
	l.mu.Unlock()
}

func (l *memoryLedger) add(device string, dt DType, bytes int64) {
	l.mu.Lock()
	m := l.of(device)
	m.Bytes += bytes
	m.ByDType[dt] += bytes
	m.Peak = max(m.Peak, m.Bytes)
	l.mu.Unlock()
}

// MemStats returns current and peak tensor memory by device name.
func MemStats() map[string]MemoryStats {
	stats.mu.Lock()
	defer stats.mu.Unlock()
	out := map[string]MemoryStats{}
	for name, m := range stats.by {
		c := *m
		c.ByDType = maps.Clone(m.ByDType)
		out[name] = c
	}
	return out
}

// ResetPeakMemory makes the present use the new peak on every device, as before a step that is to be measured.
func ResetPeakMemory() {
	stats.mu.Lock()
	defer stats.mu.Unlock()
	for _, m := range stats.by {
		m.Peak = m.Bytes
	}
}
