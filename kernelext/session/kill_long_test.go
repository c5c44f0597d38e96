//go:build long

package session_test

func init() { kills = 1000 }
