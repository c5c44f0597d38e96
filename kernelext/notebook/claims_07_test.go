package notebook_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

var convolutional = []claim{
	{"half precision runs through from the first convolution to the last, without a cast between", checkHalfThrough},
	{"What the figure *can* tell is that the loss falls alike.", checkResNet},
	{"The factor is below 2 because weights, gradients and Adam's two moments stay in float32", checkFactors},
	{"that it does not fit into in float32, and does under autocast", checkViT},
}

// checkHalfThrough finds every op between the image and the loss with float16 in and out, but for the first convolution's input.
func checkHalfThrough(t *testing.T, nb saved) {
	out := printed(t, nb, "model")
	for op, want := range map[string]string{
		"conv2d": "19 times, float16 → float16", "batch_norm": "20 times, float16 → float16", "relu": "17 times, float16 → float16",
		"add": "8 times, float16 → float16", "log_softmax": "1 times, float16 → float32",
	} {
		if !regexp.MustCompile(`(?m)^` + op + ` +` + want + `$`).MatchString(out) {
			t.Errorf("%s is not %s in\n%s", op, want, out)
		}
	}
}

// mean is that of the last n losses.
func mean(losses []float64, n int) (sum float64) {
	for _, l := range losses[len(losses)-n:] {
		sum += l / float64(n)
	}
	return sum
}

// checkResNet finds both runs far below their beginnings, and next to each other.
func checkResNet(t *testing.T, nb saved) {
	runs := shown(t, nb, "train")["compare"].Runs
	if len(runs) != 2 {
		t.Fatalf("%d runs", len(runs))
	}
	full, half := mean(runs[0].Loss, 20), mean(runs[1].Loss, 20)
	if first := runs[0].Loss[0]; full > first/2 || half > first/2 || math.Abs(full-half) > first/5 {
		t.Errorf("from %.3f to %.3f and %.3f", first, full, half)
	}
}

// ratio reads a line of the table of claims.
func ratio(t *testing.T, out, what string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + what + `.* +([-+]?\d+\.\d+)(?: points.*)?$`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no line %q in\n%s", what, out)
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	return v
}

// checkFactors: the memory is a fact of the program, the time one of the machine.
func checkFactors(t *testing.T, nb saved) {
	out := printed(t, nb, "train")
	if m := ratio(t, out, "memory, float32 / float16"); m < 1.4 || m > 2 {
		t.Errorf("%v times the memory", m)
	}
	if d := ratio(t, out, "time, float32 / float16"); d <= 0 {
		t.Errorf("%v times the time", d)
	}
	m := regexp.MustCompile(`accuracy, .*\((\d+\.\d) % and (\d+\.\d) %\)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no accuracy in\n%s", out)
	}
	for _, text := range m[1:] {
		if v, _ := strconv.ParseFloat(text, 64); v < 60 { // a guess has 25
			t.Errorf("an accuracy of %v", v)
		}
	}
}

func checkViT(t *testing.T, nb saved) {
	out := printed(t, nb, "vit")
	if !regexp.MustCompile(`(?s)^float32 needs .*within 85 MB: amp: .*out of memory: .*\nfloat16 needs .*within 85 MB: it fits\n`).MatchString(out) {
		t.Error(out)
	}
}
