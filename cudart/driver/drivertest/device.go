package drivertest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

func devices(t *testing.T, s *suite) {
	v, err := s.d.Version()
	if check(t, err); v < 11000 || v > 99990 {
		t.Errorf("version %d", v)
	}
	n, err := s.d.DeviceCount()
	if check(t, err); n < 1 {
		t.Fatalf("%d devices", n)
	}
	if _, err := s.d.Device(n); !errors.Is(err, driver.ErrNoCUDA) {
		t.Errorf("device %d of %d: %v", n, n, err)
	}
	p, err := s.d.Properties(s.dev)
	check(t, err)
	t.Logf("%+v", p)
	if p.Name == "" || strings.ContainsRune(p.Name, 0) || p.Capability() < 50 || p.Memory < 1<<28 || p.Multiprocessors < 1 || p.MaxThreadsPerBlock < 512 ||
		p.SharedPerBlock < 16<<10 || p.SharedPerBlockOptin < p.SharedPerBlock || p.SharedPerMP < p.SharedPerBlock {
		t.Errorf("implausible: %+v", p)
	}
	warp, err := s.d.Attribute(s.dev, driver.WarpSize)
	if check(t, err); warp != 32 {
		t.Errorf("warps of %d threads", warp)
	}
}

func contexts(t *testing.T, s *suite) {
	again, err := s.d.RetainContext(s.dev)
	if check(t, err); again != s.ctx {
		t.Errorf("the primary context is %v, then %v", s.ctx, again)
	}
	check(t, s.d.ReleaseContext(s.dev))
	// It was retained twice and released once: it lives.
	s.bind(t)
	s.alloc(t, 16)
	check(t, s.d.Sync())
}

func binding(t *testing.T, s *suite) {
	// Pairs nest.
	check(t, s.d.Bind(s.ctx), s.d.Bind(s.ctx))
	s.d.Unbind()
	p, err := s.d.Alloc(64)
	check(t, err, s.d.Free(p))
	s.d.Unbind()

	// Without a context, an error says what is missing.
	check(t, s.d.Bind(0))
	_, err = s.d.Alloc(64)
	s.d.Unbind()
	if err == nil || !strings.Contains(err.Error(), "Bind") {
		t.Errorf("allocation without a context: %v", err)
	}

	// Every thread gets it.
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				err := driver.Do(s.d, s.ctx, func() error {
					p, err := s.d.Alloc(64)
					if err != nil {
						return err
					}
					return s.d.Free(p)
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
