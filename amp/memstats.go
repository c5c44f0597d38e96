package amp

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
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

// A ledger counts the tensor memory of one device. Every op adds to it, so it takes no lock.
type ledger struct {
	bytes, peak, limit   atomic.Int64
	newBuffers, reserved atomic.Int64
	by                   [len(dtypes)]atomic.Int64
}

// cpuLedger is apart from the others because most tensors are counted there.
var (
	cpuLedger    ledger
	otherLedgers sync.Map // device name to *ledger
)

// ledgerOf returns the ledger of a device.
func ledgerOf(dev Device) *ledger {
	if dev == Device(theCPU) {
		return &cpuLedger
	}
	return ledgerNamed(dev.Name())
}

func ledgerNamed(device string) *ledger {
	if device == theCPU.name {
		return &cpuLedger
	}
	if l, ok := otherLedgers.Load(device); ok {
		return l.(*ledger)
	}
	l, _ := otherLedgers.LoadOrStore(device, new(ledger))
	return l.(*ledger)
}

// eachLedger calls f for every device that was counted.
func eachLedger(f func(device string, l *ledger)) {
	if cpuLedger.newBuffers.Load() != 0 || cpuLedger.peak.Load() != 0 || cpuLedger.limit.Load() != 0 {
		f(theCPU.name, &cpuLedger)
	}
	otherLedgers.Range(func(name, l any) bool { f(name.(string), l.(*ledger)); return true })
}

func (l *ledger) newBuffer(bytes int) {
	l.newBuffers.Add(1)
	l.reserved.Add(int64(bytes))
}

// admit counts bytes as used, unless the device's limit says that they do not fit.
func (l *ledger) admit(dt DType, bytes int64) error {
	now := l.bytes.Add(bytes)
	if limit := l.limit.Load(); limit > 0 && now > limit {
		l.bytes.Add(-bytes)
		held := ""
		if by := l.holders(); by != "" {
			held = " (" + by + ")"
		}
		return fmt.Errorf("the limit is %d bytes, %d are in use%s", limit, now-bytes, held)
	}
	l.by[dt].Add(bytes)
	return nil
}

// rise takes what is in use for the peak if it is more: memory that was asked for in vain is none.
func (l *ledger) rise() {
	now := l.bytes.Load()
	for {
		peak := l.peak.Load()
		if now <= peak || l.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

// remove counts bytes as free.
func (l *ledger) remove(dt DType, bytes int64) {
	l.bytes.Add(-bytes)
	l.by[dt].Add(-bytes)
}

// byDType returns what is held in each dtype that was ever used.
func (l *ledger) byDType() map[DType]int64 {
	by := map[DType]int64{}
	for dt := range l.by {
		if n := l.by[dt].Load(); n != 0 {
			by[DType(dt)] = n
		}
	}
	return by
}

// holders says what dtypes the memory is held in, largest first.
func (l *ledger) holders() string { return holders(l.byDType()) }

func holders(by map[DType]int64) string {
	var dts []DType
	for dt := range by {
		dts = append(dts, dt)
	}
	var parts []string
	for _, i := range placesInOrder(len(dts), func(i, k int) int {
		a, b := dts[i], dts[k]
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	}) {
		dt := dts[i]
		parts = append(parts, fmt.Sprintf("%v %d", dt, by[dt]))
	}
	return strings.Join(parts, ", ")
}

// MemStats returns current and peak tensor memory by device name.
func MemStats() map[string]MemoryStats {
	out := map[string]MemoryStats{}
	eachLedger(func(name string, l *ledger) {
		out[name] = MemoryStats{Bytes: l.bytes.Load(), Peak: l.peak.Load(), ByDType: l.byDType(),
			NewBuffers: l.newBuffers.Load(), Reserved: l.reserved.Load(), Limit: l.limit.Load()}
	})
	for _, d := range openDevices() {
		if r, ok := d.(Reserver); ok {
			m := out[d.Name()]
			m.NewBuffers, m.Reserved = r.Reserved()
			out[d.Name()] = m
		}
	}
	return out
}

// MemoryLimit sets how many bytes tensors on a device ("cpu", "cuda:0") may use together, and returns the limit before; 0 means no
// limit. A tensor beyond it panics with ErrMemory, which says what the memory is held in: so that "does not fit in
// float32, fits under autocast" can be shown on any machine.
func MemoryLimit(device string, bytes int64) int64 {
	if bytes < 0 {
		fail("MemoryLimit", ErrArgument, "use 0 for no limit", "%d bytes", bytes)
	}
	if d, _, err := OpenDevice(device); err == nil {
		device = d.Name() // "cuda" and "cuda:0" are one, whose name may say more
	} else if !knownDevice(device) {
		fail("MemoryLimit", ErrArgument, "use \"cpu\", or a device such as \"cuda:0\" of a kind that the program imports", "there is no device %q", device)
	}
	return ledgerNamed(device).limit.Swap(bytes)
}

// ResetPeakMemory makes the present use the new peak on every device, as before a step that is to be measured.
func ResetPeakMemory() {
	eachLedger(func(_ string, l *ledger) { l.peak.Store(l.bytes.Load()) })
}
