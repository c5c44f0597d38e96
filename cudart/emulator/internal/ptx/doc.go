// Package ptx writes modules of PTX as C++ for the emulator, one statement an instruction: what a GPU's driver is given runs on the CPU,
// and not only the .cu that a compiler made it of. It knows the instructions that Halftone's modules use, as the PTX ISA defines
// them, and refuses others.
//
// Registers become variables, labels and branches stay what they are, and barriers, warp operations, asynchronous copies and
// atomics call the emulator's. An address in shared memory is a number, as on a device, and no pointer (ptx.h): a module that mixes
// the spaces up does not work by accident. Registers that nothing was written to hold NaN.
package ptx
