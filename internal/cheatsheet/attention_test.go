package cheatsheet

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

func Example_attention() {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	x, memory := amp.Randn(s, amp.Float32, 0, 1, 2, 4, 16), amp.Randn(s, amp.Float32, 0, 1, 2, 5, 16)
	tokens, lengths := amp.From([]int64{7, 8, 0, 0, 7, 8, 9, 0}, 2, 4), amp.From([]int64{5, 3})

	// torch: key_padding_mask = tokens == 0  # [batch S], true is left out
	padding := nn.KeyPaddingMask(s, amp.NeScalar(s, tokens, 0)) // [batch 1 1 S], true takes part
	fmt.Println(amp.Values[bool](padding), padding.Shape())

	// torch: torch.arange(5)[None] >= lengths[:, None]  # of padding
	keep := nn.LengthMask(s, lengths, 5)
	fmt.Println(amp.Values[bool](keep))

	// torch: nn.Transformer.generate_square_subsequent_mask(4)
	causal := nn.CausalMask(s, 4)
	fmt.Println(causal.Shape())

	// torch: attention = nn.MultiheadAttention(16, 4, batch_first=True)
	// torch: y, _ = attention(x, x, x, key_padding_mask=key_padding_mask, attn_mask=causal)
	attention := nn.NewMultiheadAttention(s, 16, 4, nn.AttentionOptions{})
	y := attention.Attend(s, x, x, x, padding, true)
	fmt.Println(y.Shape())

	// torch: y, weights = attention(x, memory, memory)  # cross-attention
	y, weights := attention.Attend(s, x, memory, memory, nil, false), attention.Weights(s, x, memory, nil, false)
	fmt.Println(y.Shape(), weights.Shape())

	// torch: F.ctc_loss(F.log_softmax(logits, -1), targets, input_lengths, target_lengths)  # logits [steps batch classes]
	logits, targets := amp.Randn(s, amp.Float32, 0, 1, 6, 2, 5), amp.From([]int64{1, 2, 2, 4, 0, 0}, 2, 3) // blank 0; amp.CTCBlank, amp.ZeroInfinity
	loss := nn.CTCLoss(s, amp.LogSoftmax(s, logits, -1), targets, amp.From([]int64{6, 4}), amp.From([]int64{3, 1}))
	fmt.Println(loss.DType())

	// torch: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, 0, norm_first=True), 2)
	encoder := nn.NewTransformerEncoder(s, 2, 16, 4, 32, nn.TransformerOptions{PreNorm: true})
	fmt.Println(encoder.Run(s, x, padding).Shape())

	// torch: decoder = nn.TransformerDecoderLayer(16, 4, 32, 0)
	// torch: decoder(x, memory, tgt_mask=causal, memory_key_padding_mask=~keep)
	decoder := nn.NewTransformerDecoderLayer(s, 16, 4, 32, nn.TransformerOptions{Causal: true})
	y = decoder.Run(s, x, memory, nil, nn.KeyPaddingMask(s, keep))
	fmt.Println(y.Shape())

	// torch: net = nn.Transformer(16, 4, 1, 1, 32, 0)
	// torch: net(memory, x, tgt_mask=causal)
	net := nn.NewTransformer(s, nn.TransformerConfig{Features: 16, Heads: 4, EncoderLayers: 1, DecoderLayers: 1, Hidden: 32, Options: nn.TransformerOptions{Causal: true}})
	y = net.Run(s, memory, x, nn.TransformerMasks{})
	fmt.Println(y.Shape())

	gpt := nn.NewGPT(s, nn.GPTConfig{Context: 32, Features: 16, Layers: 1, Heads: 2})
	// torch: gpt.generate(tokens, max_new_tokens=8, do_sample=True, temperature=0.8, top_p=0.9)  # of transformers, use_cache=True
	out := gpt.Continue(s, tokens, 8, nn.Sampling{Temperature: 0.8, TopP: 0.9})
	fmt.Println(out.Shape())

	// torch: lstm = nn.LSTM(16, 8, batch_first=True, bidirectional=True)
	// torch: packed = pack_padded_sequence(memory, lengths, batch_first=True, enforce_sorted=False)
	// torch: y, (h, c) = lstm(packed)
	// torch: y, _ = pad_packed_sequence(y, batch_first=True)
	lstm := nn.NewLSTM(s, 16, 8, nn.RecurrentOptions{BatchFirst: true, Bidirectional: true})
	y, state := lstm.RunLengths(s, memory, lengths, nn.RecurrentState{})
	fmt.Println(y.Shape(), state.H.Shape(), state.C.Shape())
	// Output:
	// [true true false false true true true false] [2 1 1 4]
	// [true true true true true true true true false false]
	// [4 4]
	// [2 4 16]
	// [2 4 16] [2 4 4 5]
	// float32
	// [2 4 16]
	// [2 4 16]
	// [2 4 16]
	// [2 12]
	// [2 5 16] [2 2 8] [2 2 8]
}
