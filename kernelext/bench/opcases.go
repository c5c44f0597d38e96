package bench

import "strings"

// opCases are the ops that the code of a training notebook is made of, at sizes such as 4096×1024: ops/name/dtype/pass. They have no bar;
// worker/ops.go and peers.py say what each does.
func opCases() []CPUCase {
	var all []CPUCase
	for _, line := range []string{
		"relu silu sigmoid tanh | f32 bf16 | fwd step",
		"leaky_relu elu softplus mish hardswish | f32 | fwd step",
		"exp log sqrt rsqrt pow square sin clamp abs | f32 | fwd",
		"exp sqrt pow clamp | f32 | step",
		"add mul add_bias mul_column add_scalar | f32 bf16 | fwd",
		"div maximum gt where masked_fill | f32 | fwd",
		"mul add_bias mul_column where masked_fill | f32 | step",
		"mean mean_rows mean_columns var_rows std_columns norm max_rows amax_columns logsumexp mean_images | f32 | fwd",
		"sum mean_rows norm amax_columns | bf16 | fwd",
		"mean_rows var_rows max_rows logsumexp | f32 | step",
		"cumsum prod_rows | f32 | fwd",
		"sort argsort topk topk_many median | f32 | fwd",
		"gather index_select scatter_add masked_select nonzero one_hot tril | f32 | fwd",
		"gather index_select | f32 | step",
		"embedding_few | f32 bf16 | step",
		"nhwc nchw | f32 bf16 | fwd",
		"transpose cat stack | bf16 | fwd",
		"cast_transposed heads split pad flip roll repeat cat_rows | f32 | fwd",
		"log_softmax | f32 | fwd step",
		"softmax layer_norm gelu cross_entropy dropout | bf16 | step",
		"mse bce_logits l1 smooth_l1 kl_div | f32 | fwd step",
		"smoothed_cross_entropy | f32 | step",
		"group_norm rms_norm instance_norm | f32 | fwd step",
		"layer_norm rms_norm group_norm | bf16 | fwd",
		"nearest bilinear global_pool max_pool_3x3 avg_pool_3x3 | f32 | fwd step",
		"max_pool avg_pool | bf16 | step",
		"linear lstm_cell gru_cell lstm | f32 | fwd step",
		"rand randint randperm | f32 | fwd",
		"clip_grad adam sgd_momentum adam_many sgd_many clip_many unscale_many | f32 | fwd",
		"adam | bf16 | fwd",
		"stem conv1d | f32 | fwd step",
	} {
		part := strings.Split(line, "|")
		for _, name := range strings.Fields(part[0]) {
			for _, dt := range strings.Fields(part[1]) {
				for _, pass := range strings.Fields(part[2]) {
					all = append(all, CPUCase{Name: "ops/" + name + "/" + dt + "/" + pass})
				}
			}
		}
	}
	return all
}
