//go:build long

package store

import "testing"

func TestKilledLong(t *testing.T) { kill(t, 1000) }
