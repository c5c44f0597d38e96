package main

import (
	"errors"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// computeMode is CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: who may have a context on the device.
const computeMode driver.Attribute = 20

// Compute modes that are not the usual one, in which all programs may.
const (
	exclusiveThread  = 1
	prohibited       = 2
	exclusiveProcess = 3
)

var errProhibited = errors.New("the GPU is in compute mode PROHIBITED, in which no program may use it; who administers the machine changes that: nvidia-smi -c DEFAULT")

// onlyOne is what a device says that has one program at a time, "" for others. There programs run one behind the other: the second of two that
// take turns, or of tests side by side, would find no device.
func onlyOne(mode int) (why string, err error) {
	switch mode {
	case exclusiveThread, exclusiveProcess:
		return "the GPU is in compute mode EXCLUSIVE_PROCESS and has one program at a time: nothing is measured in turn, tests do not run side by side, " +
			"and what needs two processes at once fails; with nvidia-smi -c DEFAULT, by who administers the machine, it would not", nil
	case prohibited:
		return "", errProhibited
	}
	return "", nil
}

// oneByOne has no stage run beside another.
func oneByOne(list []stage, why string) []stage {
	for i := range list {
		s := &list[i]
		if s.turns, s.together = "", 0; s.name == compileStage {
			s.lacks = why // kernels are compiled when they are used
		}
	}
	return list
}
