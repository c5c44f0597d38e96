package cudart

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// Kernels of products on tensor cores that are on trial: HALFTONE_DEV_GEMM=NAME/GROUP/BLOCKS chooses one. GROUP is how many rows of blocks go
// together, BLOCKS how many blocks stay where they do. Once one has won, the others and this file go.

// A gemmTrial is a kernel for products of many tiles.
type gemmTrial struct {
	stem   string
	b      mmaBlock
	alone  int  // blocks on a multiprocessor
	stages int  // at most
	whole  bool // takes nothing but whole tiles of k, and rows of eights
	walks  bool // blocks stay
}

var bigBlock = mmaBlock{192, 256, 64}

var gemmTrials = map[string]gemmTrial{
	"wide":       {stem: "gemm_wide_", b: wideBlock, alone: 1, stages: 4},
	"square64":   {stem: "gemm_square_", b: mmaBlock{128, 128, 64}, alone: 2, stages: 3},
	"tall":       {stem: "gemm_tall_", b: mmaBlock{256, 128, 64}, alone: 1, stages: 4},
	"big":        {stem: "gemm_big_", b: bigBlock, alone: 1, stages: 4, whole: true},
	"persist":    {stem: "gemm_walk_", b: wideBlock, alone: 1, stages: 3, walks: true},
	"persistbig": {stem: "gemm_walkbig_", b: bigBlock, alone: 1, stages: 3, whole: true, walks: true},
}

var (
	trialOnce                sync.Once
	trialName                string
	trialGroup, trialWalkers int
)

func readTrial() {
	parts := append(strings.Split(os.Getenv("HALFTONE_DEV_GEMM"), "/"), "", "")
	trialName = parts[0]
	if trialName == "" {
		trialName = "wide"
	}
	trialGroup, _ = strconv.Atoi(parts[1])
	if trialGroup < 1 {
		trialGroup = 8
	}
	trialWalkers, _ = strconv.Atoi(parts[2])
	if _, ok := gemmTrials[trialName]; !ok && trialName != "square" {
		panic("HALFTONE_DEV_GEMM: no such kernel: " + trialName)
	}
}

// gemmTrial chooses the kernel on tensor cores for what lay has written, and sets its stages and the order of its tiles.
func (l *launcher) gemmTrial(batches int) (stem string, b mmaBlock) {
	trialOnce.Do(readTrial)
	g, room := &l.gemmArgs, l.d.props.SharedPerBlockOptin
	g.group = int32(trialGroup)
	for _, name := range []string{trialName, "wide"} {
		t, ok := gemmTrials[name]
		if name == "square" {
			break
		}
		free := room
		if t.walks {
			free -= t.b.threads() / 32 * 2304
		}
		n := min(t.b.stages(t.alone, free), t.stages)
		many := t.b.tiles(g.m, g.n)*batches >= wideTiles*(1<<15)/(t.b.rows*t.b.columns)
		if !ok || n == 0 || g.n <= 128 || !many || t.whole && !g.wholeTiles(t.b) || t.walks && t.b.tiles(g.m, g.n)*batches >= 1<<30 || g.k == 0 {
			continue
		}
		g.stages = int32(n)
		if t.walks {
			g.batches = int32(batches)
		}
		return t.stem, t.b
	}
	g.stages = int32(squareBlock.stages(2, room))
	return "gemm_", squareBlock
}

// wholeTiles says whether b's tiles of k are whole, and rows that lie along m or n are of eights.
func (g *gemmArgs) wholeTiles(b mmaBlock) bool {
	return int(g.k)%b.k == 0 && (g.ca == 1 || g.m%8 == 0) && (g.rb == 1 || g.n%8 == 0)
}

// walkers is how many blocks stay.
func (l *launcher) walkers() int {
	if trialWalkers > 0 {
		return trialWalkers
	}
	return l.d.props.Multiprocessors
}
