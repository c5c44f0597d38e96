//go:build gorgonia_cu

package gorgoniacu

import (
	"time"

	"gorgonia.org/cu"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// notReady is CUDA_ERROR_NOT_READY: an answer, not an error.
const notReady = 600

func done(call string, err error) (bool, error) {
	if code, ok := codeOf(err); ok && code == notReady {
		return false, nil
	}
	return err == nil, failure(call, "", err)
}

func (cuDriver) NewStream() (driver.Stream, error) {
	s, err := cu.MakeStream(cu.NonBlocking)
	return driver.Stream(handle(s)), failure("cuStreamCreate", "", err)
}

func (cuDriver) DestroyStream(s driver.Stream) error {
	c := from[cu.Stream](s)
	return failure("cuStreamDestroy", "", c.Destroy())
}

func (cuDriver) SyncStream(s driver.Stream) error {
	return failure("cuStreamSynchronize", "", from[cu.Stream](s).Synchronize())
}

func (cuDriver) StreamDone(s driver.Stream) (bool, error) {
	return done("cuStreamQuery", from[cu.Stream](s).Query())
}

func (cuDriver) StreamWait(s driver.Stream, e driver.Event) error {
	return failure("cuStreamWaitEvent", "", from[cu.Stream](s).Wait(from[cu.Event](e), 0))
}

func (cuDriver) Sync() error { return failure("cuCtxSynchronize", "", cu.Synchronize()) }

func (cuDriver) NewEvent(timing bool) (driver.Event, error) {
	flags := cu.DisableTiming
	if timing {
		flags = cu.DefaultEvent
	}
	e, err := cu.MakeEvent(flags)
	return driver.Event(handle(e)), failure("cuEventCreate", "", err)
}

func (cuDriver) DestroyEvent(e driver.Event) error {
	c := from[cu.Event](e)
	return failure("cuEventDestroy", "", cu.DestroyEvent(&c))
}

func (cuDriver) RecordEvent(e driver.Event, s driver.Stream) error {
	return failure("cuEventRecord", "", from[cu.Event](e).Record(from[cu.Stream](s)))
}

func (cuDriver) SyncEvent(e driver.Event) error {
	return failure("cuEventSynchronize", "", from[cu.Event](e).Synchronize())
}

func (cuDriver) EventDone(e driver.Event) (bool, error) {
	return done("cuEventQuery", from[cu.Event](e).Query())
}

func (cuDriver) Elapsed(start, end driver.Event) (time.Duration, error) {
	ms, err := from[cu.Event](start).Elapsed(from[cu.Event](end))
	return time.Duration(ms * float64(time.Millisecond)), failure("cuEventElapsedTime", "", err)
}
