//go:build long

package session_test

import "testing"

func TestKilledAtRandomInstantsLong(t *testing.T) { killAtRandomInstants(t, 1000) }

func TestKilledOnTheGPULong(t *testing.T) { killOnTheGPU(t, 250) }
