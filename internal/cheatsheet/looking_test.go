package cheatsheet

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/widgets"
)

func Example_looking() {
	// torch: torch.device("cuda" if torch.cuda.is_available() else "cpu")
	s := amp.NewScope(amp.On("auto"), amp.Seed(1), amp.Record(amp.Decisions))
	fmt.Println(s.Device())

	defer s.Close()
	net, x, y := problem(s)

	// torch: net.to(device), x.to(device)
	nn.To(s, net)
	x = x.To(s)
	fmt.Println(x.Device())

	// torch: torch.finfo(torch.float16).max, .tiny, .smallest_normal, .eps
	f := amp.FormatFP16
	largest, normal, eps := f.Max(), f.MinNormal(), f.Epsilon()
	fmt.Println(largest, normal, eps)

	// torch: # no such thing: the smallest number; half of it becomes zero
	smallest := f.MinSubnormal()
	fmt.Println(f.Round(smallest/2), f.Round(smallest*0.51) == smallest)

	// torch: # no such thing: a number bit by bit
	bits := amp.Half(0.1).BitString()
	fmt.Println(bits)

	// torch: torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
	// torch: torch.cuda.reset_peak_memory_stats()
	amp.ResetPeakMemory()
	m := amp.MemStats()[s.Device()]
	fmt.Println(m.Bytes > 0, m.Peak == m.Bytes)

	// torch: torch.cuda.set_per_process_memory_fraction(0.5)
	before := amp.MemoryLimit(s.Device(), m.Bytes+1000)
	tooMuch := amp.Maybe(func() { amp.Zeros(s, amp.Float32, 1<<20) })
	amp.MemoryLimit(s.Device(), before)
	fmt.Println(tooMuch != nil)

	// torch: torch.isfinite(x).all()
	finite := amp.All(s, amp.IsFinite(s, x))
	fmt.Println(amp.Values[bool](finite))

	// torch: # no such thing: what float16 would lose of a tensor, and the scale that saves it
	e := amp.CountExponents(amp.MulScalar(s, x, 1e-9))
	fmt.Println(e.Fate(f, 1).Zero, e.Fate(f, e.SuggestScale(f, 1)).Zero)

	// torch: torchinfo.summary(net, input_data=x)
	summary := nn.Summary(s, net, x)
	fmt.Println(summary != nil)

	// torch: with torch.profiler.profile() as p: …
	trace := s.Observe(func(s *amp.Scope) {
		half := s.Autocast(amp.Float16)
		nn.MSELoss(half, net.Forward(half.In("net"), x), y).Backward()
	})
	fmt.Println(len(trace.Events) > 10)

	// torch: # no such thing: which precision each op ran in, and why, as a figure
	figure := widgets.Decisions(trace)
	fmt.Println(figure.Kind)

	// torch: # no such thing: at which op the gradients of a step became zero or infinite, and the loss scales that keep them
	var flow amp.GradientTrace
	nn.MSELoss(s, net.Forward(s, x), y).Backward(amp.TraceGradients(&flow))
	lost := widgets.GradientFlow(&flow)
	fmt.Println(lost.Flow.Here)

	// torch: # no such thing: the same in every 10th step of a loop
	root := amp.NewScope(amp.On("auto"), amp.RecordGradients(10))
	for s := range root.Steps(20) {
		nn.MSELoss(s, net.Forward(s, x), y).Backward()
	}
	for _, pass := range root.GradientTraces() {
		lost = widgets.GradientFlow(pass)
	}
	fmt.Println(lost.Flow.Step)
	root.Close()

	// torch: # no such thing: which op's rounding moved the loss by how much, and what other precisions would do
	loss, rounded := amp.TraceRounding(s, func(s *amp.Scope) *amp.Tensor {
		half := s.Autocast(amp.Float16)
		return nn.MSELoss(half, net.Forward(half.In("net"), x), y)
	})
	loss.Backward()
	fmt.Println(widgets.Rounding(rounded).Kind, rounded.Exact > 0)

	// torch: # no such thing: the same in every 10th step of a loop
	root = amp.NewScope(amp.On("auto"), amp.RecordRounding(10))
	for s := range root.Steps(20) {
		half := s.Autocast(amp.Float16)
		nn.MSELoss(half, net.Forward(half, x), y).Backward()
	}
	fmt.Println(len(root.RoundingTraces()))
	root.Close()
	// Output:
	// cpu
	// cpu
	// 65504 6.103515625e-05 0.0009765625
	// 0 true
	// 0 01011 1001100110
	// true true
	// true
	// [true]
	// 256 0
	// true
	// true
	// decisions
	// 0
	// 10
	// rounding true
	// 1
}
