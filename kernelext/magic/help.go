package magic

import (
	"context"
	"strings"
)

var helpCommand = &command{
	name: "help", args: "[topic]", short: "what there is; with a topic, how to use it",
	examples: []string{"%amp help trace", "%amp help %%amp"},
	run: func(e *Engine, _ context.Context, args []string) (Answer, error) {
		if err := tooMany("help", args, 1); err != nil {
			return Answer{}, err
		}
		return e.help(args)
	},
	complete: func(_ *Engine, before []string) []Choice {
		if len(before) > 0 {
			return nil
		}
		return append(choices(commandNames()...), Choice{CellMagic, "run a cell under autocast"})
	},
}

// help answers %amp and %amp help.
func (e *Engine) help(args []string) (Answer, error) {
	if len(args) == 1 {
		return helpOn(args[0])
	}
	a := Answer{Title: "%amp", Beside: "mixed precision in this notebook"}
	a.text("A line `%amp …` runs before the Go code of its cell; what it sets holds for every later cell, where the program itself says nothing.")
	t := a.table("", "", "")
	for _, c := range commands {
		t.row("`"+LineMagic+" "+c.name+"`", c.short)
	}
	a.text("A cell that begins with `%%amp` runs in a scope that is ready, and ends with its figures:")
	a.code(Example)
	a.text("A cell that reads standard input (`fmt.Scanln`, `bufio`) gets a box to type in, on Linux. For a prompt of its own, for a password (`true`), and on other systems it asks first: `gonbui.RequestInput(\"name? \", false)`, of `github.com/janpfeifer/gonb/gonbui`.")
	a.text("More: `%amp help trace`, `%amp help %%amp`; GoNB's own commands: `%help`.")
	return a, nil
}

// Example is a cell that runs.
const Example = `%%amp float16 --trace health --show decisions,scale
net := nn.NewSequential(nn.NewLinear(s, 8, 16), nn.ReLU, nn.NewLinear(s, 16, 1))
opt := optim.NewSGD(net.Parameters(), optim.LR(0.01))
scaler := amp.NewGradScaler()
x, y := amp.Randn(s, amp.Float32, 0, 1, 32, 8), amp.Randn(s, amp.Float32, 0, 1, 32, 1)
for step := range s.Steps(20) {
	half := step.Autocast(amp.NoDType) // the dtype of the cell, in the memory of the step
	loss := nn.MSELoss(half, net.Forward(half, x), y)
	opt.ZeroGrad()
	scaler.Scale(step, loss).Backward()
	scaler.Step(opt)
	scaler.Update()
}
`

// helpOn answers for one topic.
func helpOn(topic string) (Answer, error) {
	if topic == CellMagic || topic == "%%" || topic == "cell" {
		return blockHelp(), nil
	}
	c := lookup(strings.TrimPrefix(topic, LineMagic+" "))
	if c == nil {
		return Answer{}, wrong(topic, "topic of help", append(commandNames(), CellMagic))
	}
	a := Answer{Title: c.usage(), Beside: c.short}
	a.text(c.long...)
	if len(c.examples) > 0 {
		a.code(strings.Join(c.examples, "\n") + "\n")
	}
	return a, nil
}

// blockHelp answers for %%amp.
func blockHelp() Answer {
	a := Answer{Title: "%%amp", Beside: "run a cell under autocast"}
	a.text("`" + blockUsage + "`")
	a.text("The rows below it are statements, as below GoNB's `%%`; rows above it are declarations. They find two scopes: `s`, a root scope with a recorder, and `half`, the same under autocast to the dtype. With `off` autocast is off in both.",
		"With `session.Model(\"net\", build)` and its like the body keeps objects for later cells: `s` is joined to the session.",
		"Within `s.Steps` the ops of a step belong in the step's own scope: `half := step.Autocast(amp.NoDType)` takes the dtype of the cell.",
		"When the body ends, also by a panic or an interrupt, the cell shows its figures. Without `--show`: the decisions, the history of each scaler that scaled a loss, and at level health the exponents of the gradients.")
	t := a.table("", "flag", "")
	t.row("`--trace LEVEL`", "`off`, `decisions` (what ran where and why; the default) or `health` (also what the results hold: reads every result)")
	t.row("`--every N`", "look at every N-th training step alone: at level health, where each is looked at otherwise, and for `flow` and `rounding`, where it is the first alone")
	t.row("`--show LIST`", "the figures to show: `decisions`, `scale`, `exponents`, `flow` (at which op of a backward pass gradients became zero or infinite), `rounding` (which op's rounding put how much error into the loss; both are slow in the steps that they look at), with commas between them; or `none`")
	t.row("`--fp8 SCALES`", "linear layers read operands rounded to 8 bits, forward and backward, with a scale per `tensor`, `row` or `block` (`amp.FP8`); the decisions show each rounding")
	t.row("`--fp4 [FORMAT]`", "the same in 4 bits (`amp.FP4`): `nv` (NVFP4 with NVIDIA's recipe for training; the default) or `mx` (MXFP4)")
	a.code(Example)
	return a
}
