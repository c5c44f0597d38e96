package main

import (
	"fmt"
	"strings"
)

// Encodings of the instructions that Go's assembler lacks, after the Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 2. Registers are numbers; general registers are those below.

const (
	regAX, regCX, regDX, regBX = 0, 1, 2, 3
	regSI, regDI               = 6, 7
	regR8, regR9, regR10       = 8, 9, 10
	regR11, regR12             = 11, 12
	regR13, regR15             = 13, 15
)

// bytes writes an instruction as it is in memory, with its name beside it.
func (f *asmFile) bytes(name string, b ...int) {
	var parts []string
	for _, x := range b {
		parts = append(parts, fmt.Sprintf("BYTE $0x%02x", x&0xff))
	}
	f.b.WriteString("\t" + strings.Join(parts, "; ") + " // " + name + "\n")
}

// not returns 1 where bit i of r is 0.
func not(r, i int) int { return 1 - r>>i&1 }

// vdpbf16ps raises the 16 sums of z by the products of the pairs of bfloat16 in x and y: EVEX.512.F3.0F38.W0 52 /r.
func (f *asmFile) vdpbf16ps(x, y, z int) {
	f.bytes(fmt.Sprintf("VDPBF16PS Z%d, Z%d, Z%d", x, y, z),
		0x62, not(z, 3)<<7|not(x, 4)<<6|not(x, 3)<<5|not(z, 4)<<4|2, (^y&15)<<3|1<<2|2, 2<<5|not(y, 4)<<3, 0x52, 3<<6|z&7<<3|x&7)
}

// tdp raises tile z by the product of tiles x, rows of pairs, and y, pairs of rows: TDPBF16PS is VEX.128.F3.0F38.W0 5C 11:rrr:bbb,
// TDPFP16PS the same with F2.
func (f *asmFile) tdp(name string, x, y, z int) {
	f.bytes(fmt.Sprintf("%s TMM%d, TMM%d, TMM%d", name, y, x, z), 0xc4, 0xe2, (^y&15)<<3|map[string]int{"TDPBF16PS": 2, "TDPFP16PS": 3}[name], 0x5c, 3<<6|z<<3|x)
}

// vcvtneps2bf16 rounds the float32 of Z register x into Y register y: EVEX.512.F3.0F38.W0 72 /r.
func (f *asmFile) vcvtneps2bf16(x, y int) {
	f.bytes(fmt.Sprintf("VCVTNEPS2BF16 Z%d, Y%d", x, y),
		0x62, not(y, 3)<<7|not(x, 4)<<6|not(x, 3)<<5|not(y, 4)<<4|2, 15<<3|1<<2|2, 2<<5|1<<3, 0x72, 3<<6|y&7<<3|x&7)
}

// tilezero is VEX.128.F2.0F38.W0 49 11:rrr:000.
func (f *asmFile) tilezero(t int) {
	f.bytes(fmt.Sprintf("TILEZERO TMM%d", t), 0xc4, 0xe2, 0x7b, 0x49, 3<<6|t<<3)
}

// The ways to move a tile: load, load what is wanted once (it does not displace the rest of the L1 cache), store.
const (
	tileLoad   = 0x7b // TILELOADD: VEX.128.F2.0F38.W0 4B /r
	tileStream = 0x79 // TILELOADDT1: 66 in place of F2
	tileStore  = 0x7a // TILESTORED: F3
)

// tileMove moves tile t from or to off(base), rows index bytes apart.
func (f *asmFile) tileMove(how, t, off, base, index int) {
	name := map[int]string{tileLoad: "TILELOADD", tileStream: "TILELOADDT1", tileStore: "TILESTORED"}[how]
	f.bytes(fmt.Sprintf("%s TMM%d, %d(r%d + r%d)", name, t, off, base, index),
		0xc4, 1<<7|not(index, 3)<<6|not(base, 3)<<5|2, how, 0x4b, 2<<6|t<<3|4, index&7<<3|base&7, off, off>>8, off>>16, off>>24)
}

// ldtilecfg is VEX.128.NP.0F38.W0 49 /0; base must be one of the first eight registers but SP and BP.
func (f *asmFile) ldtilecfg(base int) { f.bytes("LDTILECFG", 0xc4, 0xe2, 0x78, 0x49, base) }

// tilerelease is VEX.128.NP.0F38.W0 49 C0.
func (f *asmFile) tilerelease() { f.bytes("TILERELEASE", 0xc4, 0xe2, 0x78, 0x49, 0xc0) }

// prefetchW fetches, to be written, the cache line at base + index + off: 0F 0D /1. Without an index it is noIndex.
func (f *asmFile) prefetchW(base, index, off int) {
	f.bytes(fmt.Sprintf("PREFETCHW %d(r%d + r%d)", off, base, index), 0x40|index>>3<<1|base>>3, 0x0f, 0x0d, 1<<6|1<<3|4, index&7<<3|base&7, off)
}

const noIndex = 4

// vcvtne2ps2bf16 rounds the float32 of Z registers low and high into register x: EVEX.512.F2.0F38.W0 72 /r.
func (f *asmFile) vcvtne2ps2bf16(low, high, x int) {
	f.bytes(fmt.Sprintf("VCVTNE2PS2BF16 Z%d, Z%d, Z%d", low, high, x),
		0x62, not(x, 3)<<7|not(low, 4)<<6|not(low, 3)<<5|not(x, 4)<<4|2, (^high&15)<<3|1<<2|3, 2<<5|not(high, 4)<<3, 0x72, 3<<6|x&7<<3|low&7)
}
