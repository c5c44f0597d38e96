//go:build long

package session_test

func init() { gpuKills = 250 }
