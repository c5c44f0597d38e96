package kernel

import (
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// torchNames says what PyTorch's names are here, in lower case and without underscores. Those that are ops need no row: see fixMissing.
var torchNames = map[string]string{
	"getscale":                     "that is CurrentScale() here",
	"getgrowthinterval":            "that is GrowthInterval() here",
	"isenabled":                    "that is Enabled() of a scaler, AutocastDType() of a scope",
	"isautocastenabled":            "that is s.AutocastDType(), which gives the dtype and whether autocast is on",
	"getautocastdtype":             "that is s.AutocastDType(), which gives the dtype and whether autocast is on",
	"isautocastavailable":          "autocast runs on every device; s.AutocastDType() says whether it is on",
	"clearautocastcache":           "that is s.ClearCastCache() here",
	"customfwd":                    "that is amp.Register with an amp.Custom, whose CastInputs is cast_inputs",
	"custombwd":                    "that is amp.Register with an amp.Custom, whose CastInputs is cast_inputs",
	"autocast":                     "autocast is a method of a scope: half := s.Autocast(amp.Float16)",
	"gradscaler":                   "NewGradScaler makes one",
	"nograd":                       "that is a method of a scope: s.NoGrad()",
	"inferencemode":                "that is s.NoGrad().Eval() here",
	"manualseed":                   "that is an option here: amp.NewScope(amp.Seed(1))",
	"statedict":                    "that is State() and LoadState of a scaler, an optimizer or a schedule, nn.StateDict(net) and nn.LoadStateDict(net, state) of a model",
	"loadstatedict":                "that is LoadState(state) of a scaler, an optimizer or a schedule, nn.LoadStateDict(net, state) of a model",
	"tensor":                       "amp.From makes one of a slice: amp.From([]float32{1, 2, 3, 4}, 2, 2)",
	"half":                         "that is amp.To(s, x, amp.Float16); for a model amp.MustPolicy(\"float16\").Apply(net)",
	"bfloat16":                     "that is amp.To(s, x, amp.BFloat16); for a model amp.MustPolicy(\"bfloat16\").Apply(net)",
	"float":                        "that is amp.To(s, x, amp.Float32) here",
	"double":                       "that is amp.To(s, x, amp.Float64) here",
	"cuda":                         "devices belong to scopes: amp.NewScope(amp.On(\"cuda:0\")), then x.To(s)",
	"tolist":                       "that is x.Float64s(), or amp.Values[float32](x)",
	"numpy":                        "that is x.Float64s(), or amp.Values[float32](x)",
	"size":                         "that is Shape() here",
	"requiresgrad":                 "x.RequireGrad() asks for a gradient",
	"zerograd":                     "that is ZeroGrad() of an optimizer or a tensor",
	"eval":                         "a scope has that, not a model: s.Eval()",
	"train":                        "a scope has that, not a model: s.Train()",
	"newsparseadam":                "gradients are dense here, those of an embedding too; optim.NewAdam is the nearest",
	"lr":                           "that is LearningRate() of an optimizer, LastLR() of a schedule",
	"dtype":                        "that is DType() here",
	"divscalar":                    "that is amp.MulScalar(s, x, 1.0/4), or amp.ScalarDiv(s, 4, x) for 4/x",
	"subscalar":                    "that is amp.AddScalar(s, x, -2), or amp.ScalarSub(s, 2, x) for 2-x",
	"rsub":                         "that is amp.ScalarSub(s, 1, x) for 1-x",
	"view":                         "that is amp.Reshape(s, x, 4) here",
	"clipgradnorm":                 "that is optim.ClipGradNorm(net.Parameters(), 1)",
	"clipgradvalue":                "that is optim.ClipGradValue(net.Parameters(), 1)",
	"updatebn":                     "that is nn.UpdateBN(s, net, batches)",
	"updateparameters":             "that is Update(s) of an nn.AveragedModel",
	"packpaddedsequence":           "that is RunLengths(s, x, lengths, nn.RecurrentState{}) of nn.RNN, nn.GRU and nn.LSTM, which takes padded sequences",
	"padpackedsequence":            "RunLengths of nn.RNN, nn.GRU and nn.LSTM returns padded sequences",
	"keypaddingmask":               "nn.KeyPaddingMask(s, keep) makes a mask of [batch S], true for keys that count",
	"generatesquaresubsequentmask": "that is nn.CausalMask(s, n)",
	"getemamultiavgfn":             "that is the option nn.EMA(0.999) of nn.NewAveragedModel",
	"int32":                        "integers are amp.Int64",
}

// fixMissing says what to write for a name that a package, or a value of a type, lacks; "" where that is not known.
func fixMissing(pkg, name, typ string) string {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	if said := torchNames[plain(name)]; said != "" {
		return said
	}
	if pkg != "amp" && pkg != "nn" && typ != "amp.Tensor" {
		return ""
	}
	for o := range amp.Ops() {
		if plain(o.Name) == plain(name) && !o.InPlace {
			return fmt.Sprintf("ops are functions of amp whose first argument is a scope; %%amp ops %s finds this one", o.Name)
		}
	}
	return ""
}
