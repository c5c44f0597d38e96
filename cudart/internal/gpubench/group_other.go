//go:build !linux

package main

import "os/exec"

func together(*exec.Cmd) {}

func endsWithThis(*exec.Cmd) {}
