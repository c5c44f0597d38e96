//go:build !halftone_emulator

package main

// The emulator is the source of every kernel, and a compiler's time: the command that users get is built without it.
const withEmulator = false
