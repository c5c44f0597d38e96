package nn

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// ViTConfig is the size of a ViT.
type ViTConfig struct {
	Image    int     // height and width of the images
	Patch    int     // height and width of a patch; must divide Image
	Channels int     // of the images; 0 stands for 3
	Features int     // per patch
	Layers   int     // transformer blocks
	Heads    int     // of attention; must divide Features
	Hidden   int     // features within a block's linear layers; 0 stands for 4·Features
	Classes  int     // outputs
	Dropout  float64 // while training
}

// ViT is a vision transformer (Dosovitskiy et al., An Image is Worth 16x16 Words, 2021): patches of an image as a sequence, a class
// token before them, learned positions, pre-norm blocks with GELU, and a linear layer on the normalized class token.
type ViT struct {
	Patches   *Conv       // patch_embed: a convolution whose stride is its kernel's size
	Class     *amp.Tensor // [1 1 features]
	Positions *PositionalEncoding
	Blocks    []*TransformerEncoderLayer
	Norm      *LayerNorm
	Head      *Linear
	Config    ViTConfig
}

// NewViT returns a model with parameters "patch_embed.weight", "cls_token", "pos_embed.weight", "blocks.0.…", "norm.weight" and
// "head.weight". Class token and positions are normal with deviation 0.02, the rest is drawn as its layers do. It panics with
// amp.ErrArgument for sizes that do not fit.
func NewViT(s *amp.Scope, c ViTConfig) *ViT {
	if c.Channels == 0 {
		c.Channels = 3
	}
	if c.Hidden == 0 {
		c.Hidden = 4 * c.Features
	}
	checkSizes("NewViT", []int{c.Image, c.Patch, c.Channels, c.Features, c.Layers, c.Heads, c.Hidden, c.Classes})
	if c.Image%c.Patch != 0 {
		misused("NewViT", "use a patch that divides the image", "images of %d in patches of %d", c.Image, c.Patch)
	}
	side := c.Image / c.Patch
	v := &ViT{
		Patches:   NewConv2d(s, c.Channels, c.Features, c.Patch, Stride(c.Patch)),
		Class:     amp.Randn(s, amp.Float32, 0, 0.02, 1, 1, c.Features).SetName("cls_token").RequireGrad(),
		Positions: NewLearnedPositions(s, side*side+1, c.Features),
		Norm:      NewLayerNorm(s, c.Features), Head: NewLinear(s, c.Features, c.Classes), Config: c,
	}
	v.Positions.Dropout = c.Dropout
	v.Norm.Eps = 1e-6
	for range c.Layers {
		b := NewTransformerEncoderLayer(s, c.Features, c.Heads, c.Hidden, TransformerOptions{PreNorm: true, Activation: GELU, Dropout: c.Dropout, Eps: 1e-6})
		v.Blocks = append(v.Blocks, b)
	}
	NameChildren(v)
	return v
}

// Children returns the parts in their order of use.
func (v *ViT) Children() []Named {
	out := append([]Named{{"patch_embed", v.Patches}, {"pos_embed", v.Positions}}, numbered("blocks", v.Blocks)...)
	return append(out, Named{"norm", v.Norm}, Named{"head", v.Head})
}

// Parameters returns the parameters in their order of use.
func (v *ViT) Parameters() []*amp.Tensor {
	return slices.Insert(ChildParameters(v), len(v.Patches.Parameters()), v.Class)
}

// Forward returns logits [batch classes] for images [batch channels height width] of the configured size. It panics with amp.ErrShape
// for others.
func (v *ViT) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	if c := v.Config; x.Rank() != 4 || x.Dim(2) != c.Image || x.Dim(3) != c.Image {
		misshapen("ViT", fmt.Sprintf("use images [batch %d %d %d]", c.Channels, c.Image, c.Image), "x is %v", x.Shape())
	}
	batch := x.Dim(0)
	x = v.Patches.Forward(s.In("patch_embed"), x)
	x = amp.Transpose(s, amp.Reshape(s, x, batch, v.Config.Features, -1), 1, 2)
	x = amp.Cat(s, 1, amp.Expand(s, v.Class, batch, 1, v.Config.Features), x)
	x = v.Positions.Forward(s.In("pos_embed"), x)
	for i, b := range v.Blocks {
		x = b.Forward(s.In(number("blocks", i)), x)
	}
	x = amp.Reshape(s, amp.Narrow(s, x, 1, 0, 1), batch, v.Config.Features) // the norm works token by token
	return v.Head.Forward(s.In("head"), v.Norm.Forward(s.In("norm"), x))
}
