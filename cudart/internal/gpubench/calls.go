package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/driver/drivertest"
)

var one = [3]uint32{1, 1, 1}

func (b *bench) kernel(name string) driver.Function {
	m, _, err := b.d.LoadModule(drivertest.PTX, driver.JIT{})
	must(err)
	return get(b.d.Function(m, name))
}

// calls times single calls on the host: queues are long enough that none waits for the device.
func calls(b *bench) {
	empty, step := b.kernel("drivertest_empty"), b.kernel("drivertest_step")
	p := get(b.d.Alloc(4))
	b.report("Bind and Unbind", b.host(10000, func() { must(b.d.Bind(b.ctx)); b.d.Unbind() }), "ns", "")
	must(b.d.Launch(empty, one, one, 0, b.st, nil))
	b.report("launch, no parameters", b.host(500, func() { must(b.d.Launch(empty, one, one, 0, b.st, nil)) }), "ns", "500 queued")
	launch := func() {
		a := driver.GetArgs("step").Ptr(p).Int32(1).Int32(1)
		must(b.d.Launch(step, one, one, 0, b.st, a))
		a.Put()
	}
	b.report("launch, 3 parameters", b.host(500, launch), "ns", "500 queued")
	b.report("launch, sustained", b.host(20000, launch), "ns", "20 000 queued: as fast as the device takes them")
	b.report("launch and wait", b.host(200, func() { launch(); must(b.d.SyncStream(b.st)) }), "ns", "")
	e := get(b.d.NewEvent(false))
	b.report("record an event", b.host(500, func() { must(b.d.RecordEvent(e, b.st)) }), "ns", "")
	b.report("memset of 4 bytes", b.host(500, func() { must(b.d.Memset32(p, 0, 1, b.st)) }), "ns", "")
	must(b.d.DestroyEvent(e))
	must(b.d.Free(p))
}

func allocation(b *bench) {
	pool := get(b.d.DefaultPool(b.dev))
	must(b.d.SetPoolThreshold(pool, 1<<62))
	for _, n := range []uint64{1 << 10, 1 << 20, 64 << 20} {
		pair := func() { must(b.d.FreeAsync(get(b.d.AllocAsync(n, b.st)), b.st)) }
		pair()
		b.report("AllocAsync and FreeAsync", b.host(500, pair), "ns", bytesOf(n))
		b.report("Alloc and Free", b.host(20, func() { must(b.d.Free(get(b.d.Alloc(n)))) }), "ns", bytesOf(n))
	}
	b.report("HostAlloc and HostFree", b.host(5, func() { must(b.d.HostFree(get(b.d.HostAlloc(1 << 20)))) }), "ns", "1 MB")
	must(b.d.TrimPool(pool, 0))
}

func bytesOf(n uint64) string {
	if n >= 1<<20 {
		return sprint(n>>20) + " MB"
	}
	return sprint(n>>10) + " KB"
}

func copies(b *bench) {
	n := size[uint64](1<<30, 1<<20)
	p, q := get(b.d.Alloc(n)), get(b.d.Alloc(n))
	b.onDevice("copy on the device, 1 GB", 2*float64(n), "bytes read and written", func() { must(b.d.CopyDtoD(q, p, n, b.st)) })
	b.onDevice("memset", float64(n), "1 GB", func() { must(b.d.Memset32(p, 0, n/4, b.st)) })
	h := get(b.d.HostAlloc(size(256<<20, 1<<20)))
	b.onDevice("copy to the device, page-locked", float64(len(h)), "256 MB", func() { must(b.d.CopyHtoDAsync(p, h, b.st)) })
	b.onDevice("copy to the host, page-locked", float64(len(h)), "256 MB", func() { must(b.d.CopyDtoHAsync(h, p, b.st)) })
	g := make([]byte, len(h))
	b.report("copy to the device, Go's memory", median(3, func() float64 {
		began := time.Now()
		must(b.d.CopyHtoD(p, g))
		return float64(len(g)) / time.Since(began).Seconds() / 1e9
	}), "GB/s", "256 MB")
	b.report("copy of 4 bytes to the host", b.host(200, func() { must(b.d.CopyDtoH(g[:4], p)) }), "ns", "with its wait")
	must(b.d.HostFree(h))
	must(b.d.Free(p))
	must(b.d.Free(q))
}

// graphs replays 1000 launches in one call.
func graphs(b *bench) {
	step := b.kernel("drivertest_step")
	p := get(b.d.Alloc(4))
	a := driver.GetArgs("step").Ptr(p).Int32(1).Int32(1)
	nodes := size(1000, 3)
	must(b.d.BeginCapture(b.st))
	for range nodes {
		must(b.d.Launch(step, one, one, 0, b.st, a))
	}
	g := get(b.d.EndCapture(b.st))
	began := time.Now()
	x := get(b.d.Instantiate(g))
	b.report("instantiate a graph", ms(began), "ms", "1000 kernels")
	must(b.d.LaunchGraph(x, b.st))
	must(b.d.SyncStream(b.st))
	b.report("launch a graph", b.host(20, func() { must(b.d.LaunchGraph(x, b.st)) }), "ns", "1000 kernels, on the host")
	each := func(name string, f func()) {
		if !b.turns.Behind(name) {
			b.report(name, b.device(name, f)/float64(nodes)*1e9, "ns", "each of 1000, on the device")
		}
	}
	each("kernel in a graph", func() { must(b.d.LaunchGraph(x, b.st)) })
	each("kernel in a stream", func() {
		for range nodes {
			must(b.d.Launch(step, one, one, 0, b.st, a))
		}
	})
	must(b.d.DestroyGraphExec(x))
	must(b.d.DestroyGraph(g))
	must(b.d.Free(p))
}

func modules(b *bench) {
	began := time.Now()
	m, _, err := b.d.LoadModule(drivertest.PTX, driver.JIT{})
	must(err)
	b.report("load a module again", ms(began), "ms", bytesOf(uint64(len(drivertest.PTX)))+" of PTX, in the driver's cache")
	must(b.d.UnloadModule(m))
}

const saxpy = `extern "C" __global__ void saxpy(float* y, const float* x, float a, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}`

func compiling(b *bench) {
	began := time.Now()
	n, err := driver.OpenNVRTC("")
	must(err)
	b.report("load NVRTC", ms(began), "ms", n.Version()+" "+n.Path())
	dir := get(os.MkdirTemp("", "gpubench"))
	defer os.RemoveAll(dir)
	c := &driver.Cache{Dir: filepath.Join(dir, "cache")}
	src := driver.Source{Text: saxpy, Arch: b.props.Capability()}
	var code driver.Code
	for _, name := range []string{"compile a kernel, the first", "compile a kernel, from the cache"} {
		began = time.Now()
		code = get(n.Compile(src, c))
		b.report(name, ms(began), "ms", "")
	}
	src.Text += "\n// changed"
	began = time.Now()
	code = get(n.Compile(src, c))
	b.report("compile a kernel, the second", ms(began), "ms", "")
	began = time.Now()
	m, _, err := b.d.LoadModule(code.Image, driver.JIT{})
	must(err)
	get(b.d.Function(m, "saxpy"))
	b.report("load a cubin", ms(began), "ms", "")
}

// startOnly is a process that does as little as a cell can.
func startOnly() {
	d := get(openDriver())
	must(d.Bind(get(d.RetainContext(get(d.Device(0))))))
	b := &bench{d: d}
	must(d.Launch(b.kernel("drivertest_empty"), one, one, 0, 0, nil))
	must(d.Sync())
}

// processes times whole processes: with the driver's cache of compiled PTX empty, and full.
func processes(b *bench) {
	exe := get(os.Executable())
	dir := get(os.MkdirTemp("", "gpubench"))
	defer os.RemoveAll(dir)
	run := func() float64 {
		cmd := exec.Command(exe, "-start")
		cmd.Env, cmd.Stderr = append(os.Environ(), "CUDA_CACHE_PATH="+dir), os.Stderr
		began := time.Now()
		must(cmd.Run())
		return ms(began)
	}
	b.report("a process with one launch, the first", run(), "ms", "context, PTX compiled by the driver, launch, end")
	b.report("a process with one launch", median(5, run), "ms", "context, module from the driver's cache, launch, end")
}

// sharing times memory that another process could map.
func sharing(b *bench) {
	n := size[uint64](1<<30, 4<<20)
	began := time.Now()
	sh := get(b.d.Export(b.dev, n))
	b.report("Export", ms(began), "ms", "1 GB")
	began = time.Now()
	fd := get(b.d.ExportFD(sh))
	b.report("ExportFD", ms(began), "ms", "")
	began = time.Now()
	twin := get(b.d.Import(b.dev, fd, sh.Bytes))
	b.report("Import", ms(began), "ms", "1 GB")
	must(os.NewFile(uintptr(fd), "exported memory").Close())
	b.onDevice("copy into imported memory", float64(n), "512 MB, bytes read and written", func() { must(b.d.CopyDtoD(twin.Ptr, twin.Ptr+driver.DevicePtr(n/2), n/2, b.st)) })
	began = time.Now()
	must(b.d.ReleaseShared(twin))
	must(b.d.ReleaseShared(sh))
	b.report("ReleaseShared", ms(began), "ms", "twice")
}
