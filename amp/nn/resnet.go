package nn

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/optional"
)

// ResNet is a residual network of basic blocks (He et al., 2016). Parameters and buffers have the names of torchvision's models.
type ResNet struct {
	stem   *Sequential // conv1, bn1, relu and, for large images, maxpool
	layers []Named
	head   *Linear // fc
}

// A ResNetOption configures NewResNet18.
type ResNetOption func(*resNetConfig)

type resNetConfig struct {
	small           bool
	width, channels int
}

// SmallImages gives the network the stem for images of 32×32: a convolution of 3×3 with stride 1 and no pool.
func SmallImages() ResNetOption { return func(c *resNetConfig) { c.small = true } }

// Width sets the channels of the first stage, 64 unless given; each following stage has twice as many.
func Width(channels int) ResNetOption { return func(c *resNetConfig) { c.width = channels } }

// InputChannels sets the channels of the images, 3 unless given.
func InputChannels(n int) ResNetOption { return func(c *resNetConfig) { c.channels = n } }

// NewResNet18 returns a ResNet-18 for images [n 3 h w] with as many classes as given: torchvision's model for 224×224 (11,689,512
// parameters with 1000 classes), or with SmallImages that for 32×32 (11,173,962 with 10). Convolutions are drawn as torchvision
// does: normal, of deviation √(2/fan out); the last layer as NewLinear. It panics with amp.ErrArgument for sizes below 1.
func NewResNet18(s *amp.Scope, classes int, opts ...ResNetOption) *ResNet {
	c := resNetConfig{width: 64, channels: 3}
	optional.Apply("NewResNet18", opts, &c, misused)
	checkSizes("NewResNet18", []int{classes, c.width, c.channels})
	r := &ResNet{}
	stem := []Module{
		Named{"conv1", resNetConv(s, c.channels, c.width, 7, Stride(2), Padding(3))},
		Named{"bn1", NewBatchNorm2d(s, c.width)}, Named{"relu", ReLU}, Named{"maxpool", MaxPool2d(3, Stride(2), Padding(1))},
	}
	if c.small {
		stem[0] = Named{"conv1", resNetConv(s, c.channels, c.width, 3, Padding(1))}
		stem = stem[:3]
	}
	r.stem = NewSequential(stem...)
	in := c.width
	for i := range 4 {
		out, stride := c.width<<i, 2
		if i == 0 {
			stride = 1
		}
		layer := NewSequential(newBasicBlock(s, in, out, stride), newBasicBlock(s, out, out, 1))
		name := fmt.Sprintf("layer%d", i+1)
		r.layers = append(r.layers, Named{name, layer})
		in = out
	}
	r.head = NewLinear(s, in, classes)
	for _, c := range append(r.layers, Named{"fc", r.head}) { // the stem's have their names
		Prefix(c.Name, c.Module, nil)
	}
	return r
}

// resNetConv is a convolution without bias, which the batch norm after it has.
func resNetConv(s *amp.Scope, in, out, kernel int, opts ...ConvOption) *Conv {
	return NewConv2d(s, in, out, kernel, append(opts, NoBias(), drawnFor("relu"))...)
}

// Forward returns the logits [n classes] of images [n channels h w].
func (r *ResNet) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	x = r.stem.Forward(s, x)
	for _, l := range r.layers {
		x = l.Forward(s.In(l.Name), x)
	}
	x = Flatten.Forward(s, amp.AdaptiveAvgPool2d(s, x, 1))
	return r.head.Forward(s.In("fc"), x)
}

// Children returns the first layers, the four stages and the last layer.
func (r *ResNet) Children() []Named {
	return append(append(r.stem.Children(), r.layers...), Named{"fc", r.head})
}

// Parameters returns the parameters in torchvision's order.
func (r *ResNet) Parameters() []*amp.Tensor { return ChildParameters(r) }

// Buffers returns the statistics of the batch norms in torchvision's order.
func (r *ResNet) Buffers() []*amp.Tensor { return ChildBuffers(r) }

// basicBlock is relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)).
type basicBlock struct {
	conv1, conv2 *Conv
	bn1, bn2     *BatchNorm
	downsample   *Sequential // nil where sizes stay
}

func newBasicBlock(s *amp.Scope, in, out, stride int) *basicBlock {
	b := &basicBlock{
		conv1: resNetConv(s, in, out, 3, Stride(stride), Padding(1)), bn1: NewBatchNorm2d(s, out),
		conv2: resNetConv(s, out, out, 3, Padding(1)), bn2: NewBatchNorm2d(s, out),
	}
	if stride != 1 || in != out {
		b.downsample = NewSequential(resNetConv(s, in, out, 1, Stride(stride)), NewBatchNorm2d(s, out))
	}
	NameChildren(b)
	return b
}

func (b *basicBlock) Children() []Named {
	all := []Named{{"conv1", b.conv1}, {"bn1", b.bn1}, {"conv2", b.conv2}, {"bn2", b.bn2}}
	if b.downsample != nil {
		all = append(all, Named{"downsample", b.downsample})
	}
	return all
}

// Forward returns the block's output.
func (b *basicBlock) Forward(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
	y := normed(s, b.conv1, b.bn1, "1", x)
	h := amp.ReLU(s, y)
	y.Done()
	y = normed(s, b.conv2, b.bn2, "2", h)
	h.Done()
	if b.downsample == nil {
		return b.end(s, y, x)
	}
	x = b.downsample.Forward(s.In("downsample"), x)
	defer x.Done()
	return b.end(s, y, x)
}

// normed is the norm of a convolution. What only the block has seen it lets go of as soon as the next op has read it, here and below: backward
// reads the inputs of convolutions and norms, and results of ReLU.
func normed(s *amp.Scope, conv *Conv, norm *BatchNorm, number string, x *amp.Tensor) *amp.Tensor {
	c := conv.Forward(s.In("conv"+number), x)
	y := norm.Forward(s.In("bn"+number), c)
	c.Done()
	return y
}

// end is relu(y + x).
func (b *basicBlock) end(s *amp.Scope, y, x *amp.Tensor) *amp.Tensor {
	sum := amp.Add(s, y, x)
	y.Done()
	out := amp.ReLU(s, sum)
	sum.Done()
	return out
}

// Parameters returns those of the block's layers.
func (b *basicBlock) Parameters() []*amp.Tensor { return ChildParameters(b) }

// Buffers returns those of the block's layers.
func (b *basicBlock) Buffers() []*amp.Tensor { return ChildBuffers(b) }
