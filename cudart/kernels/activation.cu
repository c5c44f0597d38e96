// Activations and their gradients: NAME_backward is x, dy, times the slope at y.
#include "map.h"
#include "fast32.h"
#include "math64.h"

FAST1(gelu, half_gelu<H>(x), single_gelu(x), gelu64(x))
FAST1(silu, x* half_sigmoid(x), silu32(x), silu64(x))
FAST1(gelu_tanh, x* half_sigmoid(gelu_inner(x)), geluTanh32(x), geluTanh64(x))
FAST2(gelu_backward, x* half_gelu_slope<H>(y), x* single_gelu_slope(y), x* geluSlope64(y))
FAST2(gelu_tanh_backward, x* half_gelu_tanh_slope(y), x* single_gelu_tanh_slope(y), x* geluTanhSlope64(y))
FAST2(silu_backward, x* half_silu_slope(y), x* single_silu_slope(y), x* siluSlope64(y))
// At y, what the row returned: products of sums, which no compiler fuses, with the CPU's bits.
BINARY(sigmoid_backward, x * ((1 - y) * y))
BINARY(tanh_backward, x * ((1 - y) * (1 + y)))

// softplus: m.attr is beta and the threshold.
WIDE1(softplus, m.attr[0] * x <= m.attr[1] ? softplus64(m.attr[0] * x) / m.attr[0] : x)
WIDE2(softplus_backward, x*(m.attr[0] * y > m.attr[1] ? 1.0 : sigmoid64(m.attr[0] * y)))
WIDE1(logsigmoid, -softplus64(-x))
WIDE2(logsigmoid_backward, x* sigmoid64(-y))

// elu, selu and celu: m.attr is outer, inner and scale.
HT_FN double ht_exponential(double x, const Map& m) { return x > 0 ? m.attr[2] * x : m.attr[2] * m.attr[0] * expm164(m.attr[1] * x); }
HT_FN double ht_exponential_slope(double x, const Map& m) { return x > 0 ? m.attr[2] : m.attr[2] * m.attr[0] * m.attr[1] * exp64(m.attr[1] * x); }
WIDE1(elu, ht_exponential(x, m))
WIDE1(selu, ht_exponential(x, m))
WIDE1(celu, ht_exponential(x, m))
WIDE2(elu_backward, x* ht_exponential_slope(y, m))
WIDE2(selu_backward, x* ht_exponential_slope(y, m))
WIDE2(celu_backward, x* ht_exponential_slope(y, m))

HT_FN double ht_mish_slope(double x) {
  const double t = tanh64(softplus64(x));
  const double bend = sigmoid64(x) * (1 - t * t);
  return bend == 0 ? t : t + x * bend;  // 0 times infinity is 0 here
}
WIDE1(mish, x* tanh64(softplus64(x)))
WIDE2(mish_backward, x* ht_mish_slope(y))
WIDE1(softsign, x / (1 + ht_abs(x)))
WIDE2(softsign_backward, x*(1 / ((1 + ht_abs(y)) * (1 + ht_abs(y)))))

// x - tanh x, near 0 by tanh's continued fraction.
HT_MATH double ht_tanhshrink(double x) {
  if (ht_abs(x) > 1.5) return x - tanh64(x);
  const double square = x * x;
  double r = 0;
  HT_ROLLED for (double odd = 27; odd > 1; odd -= 2) r = square / (odd + r);
  return x * r / (1 + r);
}
WIDE1(tanhshrink, ht_tanhshrink(x))
WIDE2(tanhshrink_backward, x*(tanh64(y) * tanh64(y)))
WIDE1(hardswish, x <= -3 ? 0.0 : (x >= 3 ? x : x * (x + 3) / 6))
WIDE2(hardswish_backward, x*(y <= -3 ? 0.0 : (y >= 3 ? 1.0 : y / 3 + 0.5)))

// Straight pieces. m.attr[2] and m.attr[3] are the bounds in the arithmetic of the dtype.
WIDE1(leaky_relu, x > 0 ? x : (x <= 0 ? 0 + m.attr[0] * x : x))
WIDE2(leaky_relu_backward, y > 0 || y != y ? x : (m.attr[0] == 0 ? 0.0 : m.attr[0] * x))
WIDE1(hardtanh, x <= m.attr[2] ? m.attr[0] : (x >= m.attr[3] ? m.attr[1] : x))
WIDE2(hardtanh_backward, y <= m.attr[2] || y >= m.attr[3] ? 0.0 : x)
WIDE1(hardsigmoid, x <= -3 ? 0.0 : (x >= 3 ? 1.0 : (1.0 / 6) * x + 0.5))
WIDE2(hardsigmoid_backward, y <= -3 || y >= 3 ? 0.0 : (1.0 / 6) * x)
WIDE1(hardshrink, x < m.attr[2] || x > m.attr[3] || x != x ? x : 0.0)
WIDE2(hardshrink_backward, y < m.attr[2] || y > m.attr[3] || y != y ? x : 0.0)
WIDE1(softshrink, x < m.attr[2] ? x + m.attr[0] : (x > m.attr[3] || x != x ? x - m.attr[0] : 0.0))
WIDE2(softshrink_backward, y < m.attr[2] || y > m.attr[3] || y != y ? x : 0.0)
WIDE1(threshold, x <= m.attr[2] ? m.attr[1] : x)
WIDE2(threshold_backward, y <= m.attr[2] ? 0.0 : x)

// glu: one half, or its gradient, from views of both: dy·σ(b), and dy·a·σ'(b).
WIDE2(glu, x* sigmoid64(y))
#define GATE(S, T) \
  HT_KERNEL(glu_gate_backward_##S, Map, m) { map3<glu_gate_row, T, T, T, T>(m); }
struct glu_gate_row {
  template <class C> HT_FN double f(C dy, C a, C b, i64, const Map&) {
    const double y = sigmoid64((double)b);
    return (double)dy * y * ((double)a * (1 - y));
  }
};
GATE(f16, f16) GATE(bf16, bf16) GATE(f32, float) GATE(f64, double)
