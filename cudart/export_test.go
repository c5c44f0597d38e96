package cudart

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Counts are what a device did since the start.
type Counts struct{ Ops, Launches, Syncs, Uploads, Downloads, Fills, Copies int64 }

// ReservedOf returns the bytes that an open device has from its driver.
func ReservedOf(name string) int64 {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		return 0
	}
	_, n := d.(*device).Reserved()
	return n
}

// Trim gives the driver what an open device's pool keeps, as the pool does when it gets no more.
func Trim(name string) {
	d, _, err := amp.OpenDevice(name)
	if err == nil {
		_, err = d.(*device).pool.memory().Trim()
	}
	if err != nil {
		panic(err)
	}
}

// CountsOf returns them for an open device, such as "cuda:0".
func CountsOf(name string) (c Counts) {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		return c
	}
	n := &d.(*device).count
	return Counts{n.ops.Load(), n.launches.Load(), n.syncs.Load(), n.uploads.Load(), n.downloads.Load(), n.fills.Load(), n.copies.Load()}
}

// SharedOf returns how much shared memory a block of an open device may ask for.
func SharedOf(name string) int {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		panic(err)
	}
	return d.(*device).props.SharedPerBlockOptin
}

// HasTensorCores says whether an open device is of those that Halftone's kernels use tensor cores on: of capability 8.0 and above.
func HasTensorCores(name string) bool {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		panic(err)
	}
	return d.(*device).props.Major >= 8
}

// SetShared says how much shared memory a block of an open device may ask for; what it returns sets it back.
func SetShared(name string, bytes int) func() {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		panic(err)
	}
	dev := d.(*device)
	before := dev.props.SharedPerBlockOptin
	dev.props.SharedPerBlockOptin = bytes
	return func() { dev.props.SharedPerBlockOptin = before }
}

// SetDNNFrom sets the least number of multiplications for cuDNN; what it returns sets it back.
func SetDNNFrom(n int64) func() {
	before := dnnLeast.Swap(n)
	return func() { dnnLeast.Store(before) }
}

// NarrowGrid makes a grid's second dimension take that many blocks, until the function returned is called.
func NarrowGrid(n int) (restore func()) {
	before := mostHigh
	mostHigh = n
	return func() { mostHigh = before }
}

// FewTiles makes products of so many tiles large ones, until the function returned is called.
func FewTiles(n int) (restore func()) {
	wide, large, groups := wideTiles, largeTiles, warpgroupTiles
	wideTiles, largeTiles, warpgroupTiles = n, n, n
	return func() { wideTiles, largeTiles, warpgroupTiles = wide, large, groups }
}

// UseWarpgroups has warpgroups compute what they can, or nothing, until the function returned is called.
func UseWarpgroups(on bool) (restore func()) {
	before := noWarpgroups.Swap(!on)
	return func() { noWarpgroups.Store(before) }
}

// CapabilityOf returns the compute capability of an open device, such as 90.
func CapabilityOf(name string) int {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		panic(err)
	}
	return d.(*device).props.Capability()
}

// ShortLists makes lists of indices count as long from n on, until the function returned is called.
func ShortLists(n int) (restore func()) {
	line, list := longLine, longList
	longLine, longList = n, n
	return func() { longLine, longList = line, list }
}

// ShortMaps makes elementwise rows of n elements count as long, and results of n bytes as larger than any cache, until the function returned is
// called.
func ShortMaps(n int) (restore func()) {
	long, streamed := longMap, streamedMap
	longMap, streamedMap = n, n
	return func() { longMap, streamedMap = long, streamed }
}

// WrapDriver puts a driver around that of an open device; what it returns takes it away.
func WrapDriver(name string, wrap func(driver.Driver) driver.Driver) func() {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		panic(err)
	}
	dev := d.(*device)
	before := dev.drv
	dev.drv = wrap(before)
	return func() { dev.drv = before }
}

// UseUpRefusals makes calls that come from now on share number 0, until the function returned is called.
func UseUpRefusals() (restore func()) {
	known.Lock()
	defer known.Unlock()
	list, number := known.list, known.number
	known.list, known.number = make([]refusal, claimMost+1), map[refusal]uint64{}
	copy(known.list, list)
	return func() {
		known.Lock()
		defer known.Unlock()
		known.list, known.number = list, number
	}
}

// SnapshotMemory returns how many pieces of page-locked memory an open device has that no snapshot uses.
func SnapshotMemory(name string) int {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		return 0
	}
	d.(*device).clocks.mu.Lock()
	defer d.(*device).clocks.mu.Unlock()
	return len(d.(*device).snapshots.free)
}

// SetMost says from which number of places, or of elements of several dimensions, on kernels are launched in pieces; what it returns sets
// it back.
func SetMost(places, elements int) func() {
	p, e := mostPlaces, mostElements
	mostPlaces, mostElements = places, elements
	return func() { mostPlaces, mostElements = p, e }
}

// Debts returns the number of blocks of an open device whose gradients are not divided yet.
func Debts(name string) int {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		return 0
	}
	return int(d.(*device).debts.some.Load())
}

// SetManyLines sets how many lines of a norm are taken for many; what it returns sets it back.
func SetManyLines(n int64) func() {
	before := manyLines
	manyLines = n
	return func() { manyLines = before }
}

// SetWholeProcessors sets how many multiprocessors' worth of blocks share the lines of a norm; what it returns sets it back.
func SetWholeProcessors(n int) func() {
	before := wholeProcessors
	wholeProcessors = n
	return func() { wholeProcessors = before }
}

// Verdicts returns how many blocks of a device have a cast's word for what they hold.
func Verdicts(name string) int {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		return 0
	}
	if d, ok := d.(*device); ok {
		return int(d.verdicts.some.Load())
	}
	return 0
}

// LeaveWords leaves a device n of its free words; what it returns gives the others back.
func LeaveWords(name string, n int) func() {
	opened, _, _ := amp.OpenDevice(name)
	d := opened.(*device)
	if err := d.do(d.words); err != nil {
		panic(err)
	}
	q := &d.verdicts
	q.mu.Lock()
	defer q.mu.Unlock()
	taken := q.free[n:]
	q.free = q.free[:n:n]
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.free = append(q.free, taken...)
	}
}

// ForgetWords leaves a device as it is before it made its words; what it returns gives them back.
func ForgetWords(name string) func() {
	opened, _, _ := amp.OpenDevice(name)
	q := &opened.(*device).verdicts
	q.mu.Lock()
	defer q.mu.Unlock()
	tried, all, free := q.tried, q.all, q.free
	q.tried, q.all, q.free = false, nil, nil
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.tried, q.all, q.free = tried, all, free
	}
}

// UseHost makes every row run on the host; what it returns sets it back.
func UseHost(on bool) func() {
	before := hostOnly.Swap(on)
	return func() { hostOnly.Store(before) }
}

var others int

// OpenOn opens a device on an implementation of the emulated driver under a name of its own, when it is first used.
func OpenOn(drv driver.Driver) (name string) {
	kind := fmt.Sprintf("other%d", others)
	others++
	amp.RegisterDevice(kind, func(index int) (amp.Device, error) {
		d, err := newDevice(drv, true, index)
		if err == nil {
			d.(*device).name = kind + ":0"
			d.(*device).pool.fence = nil
		}
		return d, err
	})
	return kind + ":0"
}

// InUse returns the bytes of an open device that are handed out.
func InUse(name string) uint64 {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		return 0
	}
	return d.(*device).pool.memory().Stats().InUse
}

// A refuser is a cuBLAS without algorithms.
type refuser struct{ asked *int }

func (r refuser) refuse() error {
	*r.asked++
	return &driver.Error{Code: 15, Name: "CUBLAS_STATUS_NOT_SUPPORTED", Kind: driver.ErrUnsupported}
}
func (r refuser) Gemm(*driver.Gemm) error                   { return r.refuse() }
func (r refuser) Matmul(*driver.Fused, driver.Stream) error { return r.refuse() }
func (r refuser) Path() string                              { return "" }
func (r refuser) Version() int                              { return 0 }

// RefuseProducts gives an open device a cuBLAS that has no algorithm for anything; asked counts the products that it was asked for.
func RefuseProducts(name string) (restore func(), asked *int) {
	opened, _, _ := amp.OpenDevice(name)
	d := opened.(*device)
	p := &d.products
	p.once.Do(func() { _ = d.do(func() error { p.load(d); return nil }) })
	b, lt, err := p.blas, p.lt, p.err
	asked = new(int)
	p.blas, p.lt, p.err = refuser{asked}, refuser{asked}, nil
	return func() { p.blas, p.lt, p.err = b, lt, err }, asked
}

// Named returns how many addresses the lists of gathered launches of a device hold.
func Named(name string) (n int) {
	d, _, err := amp.OpenDevice(name)
	if err != nil {
		panic(err)
	}
	b := &d.(*device).batch
	b.mu.Lock()
	defer b.mu.Unlock()
	lists := [][]uint64{b.clip.ptr[:], b.copies.to[:], b.copies.from[:], b.copies.told[:], b.unscale.ptr[:], b.unscale.told[:]}
	for i := range b.update.ptr {
		lists = append(lists, b.update.ptr[i][:])
	}
	for _, p := range slices.Concat(lists...) {
		if p != 0 {
			n++
		}
	}
	return n
}
