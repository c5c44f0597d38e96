//go:build linux && (amd64 || arm64)

package emulator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart"
)

// testDeviceEnv names the variable that makes a device the default one of amp's test binaries (package amp/internal/remote).
const testDeviceEnv = "HALFTONE_TEST_DEVICE"

// slowSuites are amp's own tests that take the emulated device more than a second or two; they run with the build tag long.
const slowSuites = "EveryOp(OfNothing|RefusesCleanly|Gradient|SecondOrder|DTypes|Decision$|WithExpandedGradient)|Conv(Blocks|TransposeDefinition)|" +
	"Checkpoint(IsExact)|HistoryKeepsEverySkip|TestTorch|AttentionGradientBlocks|SteadyStep|LevelsTrain|LoopWithoutSteps|" +
	"GPT(Tying|IsCausal|Generate)|GPTCache(InHalves)?$|TestSampling$|ViTFits|ModelGradients|ResNet18Learns|LSTMLearns|Residual|MultiheadAttentionParameters|ConvLayers|NormLayer|Transformer(EncoderLayer|Defaults|Modules)|OptimizersAgree"

// neverSuites are tests that train models or compare the CPU's own kernels, by themselves or with other numbers of its threads: minutes of the
// emulator's, for what the walk over the table and shorter training has seen.
const neverSuites = "GPTLearns|GPTPrecisions|ViTLearns|ThreadsDoNotChange|(Shape|Conv|Attention)Threads|HalfTables|EveryOpOnDevice|Interrupt"

// onceSuites are tests of what is around kernels that take long and launch none that the walk on PTX does not (as the emulator's launched=FILE shows).
const onceSuites = "PairLines|WholeLayers|EveryOpTogether"

// A suite is a package's tests, run with the emulated device as the one that scopes are on if they name none.
type suite struct {
	dir, run, skip string
	least          int // tests that must have passed
	ptx            bool
}

var suites = []suite{
	{"amp", "", slowSuites + "|" + neverSuites, 150, false},
	{"amp/nn", "", slowSuites + "|" + neverSuites, 20, false},
	{"amp/optim", "", slowSuites + "|" + neverSuites, 10, false},
	{"amp/checkpoint", "", neverSuites, 5, false},
	{"amp/safetensors", "", neverSuites, 6, false},
	{"amp/dataset", "", neverSuites, 40, false},
}

// TestAmpSuites runs the tests of amp and of its packages for layers, optimizers, data and files on the emulated device: operators, autograd,
// autocast, scaler, scopes, memory.
func TestAmpSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the tests of six packages")
	}
	useEmulator(t)
	if _, err := Library(); err != nil {
		t.Fatal(err)
	}
	runSuites(t, suites)
}

func runSuites(t *testing.T, list []suite) {
	t.Helper()
	for _, s := range list {
		name := strings.ReplaceAll(s.dir, "/", ".")
		if s.ptx {
			name += " on PTX"
		}
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("..", "..", filepath.FromSlash(s.dir))
			cmd := exec.CommandContext(t.Context(), testProgram(t, s.dir), "-test.short", "-test.v", "-test.timeout=30m", "-test.run="+s.run, "-test.skip="+s.skip)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), cudart.ModeEnv+"="+cudart.ModeEmulator, testDeviceEnv+"=cuda:0", "HALFTONE_EMULATOR=quiet=1")
			if s.ptx {
				cmd.Env = append(cmd.Env, onPTX(t))
			}
			out, err := cmd.CombinedOutput()
			text := string(out)
			if err != nil {
				t.Fatalf("%v\n%s", err, failures(text))
			}
			if n := strings.Count(text, "\n--- PASS"); n < s.least {
				t.Errorf("only %d tests passed\n%s", n, failures(text))
			}
		})
	}
}
