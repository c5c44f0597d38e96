package amp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// MemoryStats counts the tensor memory of one device.
type MemoryStats struct {
	Bytes      int64           // in use by tensors now
	Peak       int64           // most that was in use at once
	ByDType    map[DType]int64 // in use now, by dtype
	NewBuffers int64           // blocks taken from the system since the start; constant in a steady training step
	Reserved   int64           // bytes of all blocks ever taken, free ones included
	Limit      int64           // MemoryLimit, 0 for none
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

// admit counts bytes as used, unless the device's limit says that they do not fit.
func (l *memoryLedger) admit(device string, dt DType, bytes int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.of(device)
	if m.Limit > 0 && m.Bytes+bytes > m.Limit {
		return fmt.Errorf("the limit is %d bytes, %d are in use (%s)", m.Limit, m.Bytes, m.holders())
	}
	m.count(dt, bytes)
	return nil
}

// holders says what dtypes the memory is held in, largest first.
func (m *MemoryStats) holders() string {
	dts := slices.SortedFunc(maps.Keys(m.ByDType), func(a, b DType) int { return cmp.Compare(m.ByDType[b], m.ByDType[a]) })
	var parts []string
	for _, dt := range dts {
		if n := m.ByDType[dt]; n > 0 {
			parts = append(parts, fmt.Sprintf("%v %d", dt, n))
		}
	}
	return strings.Join(parts, ", ")
}

func (m *MemoryStats) count(dt DType, bytes int64) {
	m.Bytes += bytes
	m.ByDType[dt] += bytes
	m.Peak = max(m.Peak, m.Bytes)
}

func (l *memoryLedger) add(device string, dt DType, bytes int64) {
	l.mu.Lock()
	l.of(device).count(dt, bytes)
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
	for name, d := range openDevices() {
		if r, ok := d.(Reserver); ok {
			m := out[name]
			m.NewBuffers, m.Reserved = r.Reserved()
			out[name] = m
		}
	}
	return out
}

// MemoryLimit sets how many bytes tensors on a device ("cpu", "cuda:0") may use together, and returns the limit before; 0 means no
// limit. A tensor beyond it panics with ErrMemory, which says what the memory is held in: so that "does not fit in
// float32, fits under autocast" can be shown on any machine.
func MemoryLimit(device string, bytes int64) int64 {
	stats.mu.Lock()
	defer stats.mu.Unlock()
	m := stats.of(device)
	old := m.Limit
	m.Limit = max(bytes, 0)
	return old
}

// ResetPeakMemory makes the present use the new peak on every device, as before a step that is to be measured.
func ResetPeakMemory() {
	stats.mu.Lock()
	defer stats.mu.Unlock()
	for _, m := range stats.by {
		m.Peak = m.Bytes
	}
}
