// Code generated from amp/internal/cpu/math_scalar.go by gen64; DO NOT EDIT.

// The elementary functions of the CPU rows in float64, operation by operation, so that both devices give the same bits. Compile without
// contraction of products and sums.
#pragma once

// exp64 returns e^x.
HT_MATH double exp64(double v0) {
  double v3 = v0;
  if (710.0 < v0) {
    v3 = 710.0;
  }
  double v4 = v3;
  if (-746.0 > v3) {
    v4 = -746.0;
  }
  double v7 = ht_fma(v4, 1.4426950408889634, 6.755399441055744e+15);
  double v8 = (v7 - 6.755399441055744e+15);
  double v10 = ht_fma(-v8, 0.6931471803691238, v4);
  double v12 = (v8 * 1.9082149292705877e-10);
  double v13 = (v10 - v12);
  double v14 = (v10 - v13);
  double v15 = (v14 - v12);
  double v19 = ht_fma(1.6059043836821613e-10, v13, 2.08767569878681e-09);
  double v21 = ht_fma(v19, v13, 2.505210838544172e-08);
  double v23 = ht_fma(v21, v13, 2.755731922398589e-07);
  double v25 = ht_fma(v23, v13, 2.7557319223985893e-06);
  double v27 = ht_fma(v25, v13, 2.48015873015873e-05);
  double v29 = ht_fma(v27, v13, 0.0001984126984126984);
  double v31 = ht_fma(v29, v13, 0.001388888888888889);
  double v33 = ht_fma(v31, v13, 0.008333333333333333);
  double v35 = ht_fma(v33, v13, 0.041666666666666664);
  double v37 = ht_fma(v35, v13, 0.16666666666666666);
  double v39 = ht_fma(v37, v13, 0.5);
  double v40 = (v13 * v13);
  double v41 = ht_fma(v15, v13, v15);
  double v42 = ht_fma(v40, v39, v41);
  double v43 = (v13 + v42);
  double v44 = (1.0 + v43);
  double v45 = ht_fma(v8, 0.5, 6.755399441055744e+15);
  double v46 = (v45 - 6.755399441055744e+15);
  double v47 = (v8 - v46);
  double v48 = (v47 + 6.755399441055744e+15);
  double v49 = ht_double(ht_bits(v45) << 52);
  double v50 = ht_double(ht_bits(v49) + ht_bits(1.0));
  double v51 = (v44 * v50);
  double v52 = ht_double(ht_bits(v48) << 52);
  double v53 = ht_double(ht_bits(v52) + ht_bits(1.0));
  double v54 = (v51 * v53);
  return v54;
}
// exp32 is exp64 with the digits of a float32, for such an x.
HT_MATH double exp32(double v0) {
  double v3 = v0;
  if (89.0 < v0) {
    v3 = 89.0;
  }
  double v4 = v3;
  if (-105.0 > v3) {
    v4 = -105.0;
  }
  double v7 = ht_fma(v4, 1.4426950408889634, 6.755399441055744e+15);
  double v8 = (v7 - 6.755399441055744e+15);
  double v10 = ht_fma(-v8, 0.6931471805599453, v4);
  double v13 = ht_fma(2.48015873015873e-05, v10, 0.0001984126984126984);
  double v15 = ht_fma(v13, v10, 0.001388888888888889);
  double v17 = ht_fma(v15, v10, 0.008333333333333333);
  double v19 = ht_fma(v17, v10, 0.041666666666666664);
  double v21 = ht_fma(v19, v10, 0.16666666666666666);
  double v23 = ht_fma(v21, v10, 0.5);
  double v25 = ht_fma(v23, v10, 1.0);
  double v26 = ht_fma(v25, v10, 1.0);
  double v27 = ht_double(ht_bits(v7) << 52);
  double v28 = ht_double(ht_bits(v26) + ht_bits(v27));
  return v28;
}
// expm164 returns e^x - 1.
HT_MATH double expm164(double v0) {
  double v3 = v0;
  if (710.0 < v0) {
    v3 = 710.0;
  }
  double v4 = v3;
  if (-64.0 > v3) {
    v4 = -64.0;
  }
  double v7 = ht_fma(v4, 1.4426950408889634, 6.755399441055744e+15);
  double v8 = (v7 - 6.755399441055744e+15);
  double v10 = ht_fma(-v8, 0.6931471803691238, v4);
  double v12 = (v8 * 1.9082149292705877e-10);
  double v13 = (v10 - v12);
  double v14 = (v10 - v13);
  double v15 = (v14 - v12);
  double v16 = ht_double(ht_bits(v7) << 52);
  double v18 = ht_double(ht_bits(v16) + ht_bits(0.5));
  double v19 = (v18 - 0.5);
  double v20 = (v18 * v13);
  double v21 = (v19 + v20);
  double v22 = (v19 - v21);
  double v23 = (v22 + v20);
  double v24 = (v19 + 0.5);
  double v25 = (v18 - v24);
  double v26 = (v23 + v25);
  double v29 = ht_fma(1.6059043836821613e-10, v13, 2.08767569878681e-09);
  double v31 = ht_fma(v29, v13, 2.505210838544172e-08);
  double v33 = ht_fma(v31, v13, 2.755731922398589e-07);
  double v35 = ht_fma(v33, v13, 2.7557319223985893e-06);
  double v37 = ht_fma(v35, v13, 2.48015873015873e-05);
  double v39 = ht_fma(v37, v13, 0.0001984126984126984);
  double v41 = ht_fma(v39, v13, 0.001388888888888889);
  double v43 = ht_fma(v41, v13, 0.008333333333333333);
  double v45 = ht_fma(v43, v13, 0.041666666666666664);
  double v47 = ht_fma(v45, v13, 0.16666666666666666);
  double v48 = ht_fma(v47, v13, 0.5);
  double v49 = (v13 * v13);
  double v50 = ht_fma(v15, v13, v15);
  double v51 = ht_fma(v49, v48, v50);
  double v52 = ht_fma(v18, v51, v26);
  double v53 = (v21 + v52);
  double v55 = (v53 * 2.0);
  double v57 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v59 = v57 < 5.551115123125783e-17;
  double v60 = v55;
  if (v59) {
    v60 = v0;
  }
  return v60;
}
// log64 returns the natural logarithm of x.
HT_MATH double log64(double v0) {
  bool v2 = v0 < ht_double(0x10000000000000ull);
  double v4 = (v0 * 1.8014398509481984e+16);
  double v5 = v0;
  if (v2) {
    v5 = v4;
  }
  double v7 = ht_double(ht_bits(v5) + ht_bits(ht_double(0x95f619980c433ull)));
  double v8 = ht_double(ht_bits(v7) >> 52);
  double v9 = ht_double(ht_bits(v8) << 52);
  double v10 = ht_double(ht_bits(v5) - ht_bits(v9));
  double v12 = ht_double(ht_bits(v10) + ht_bits(1.0));
  double v14 = ht_double(ht_bits(v8) | ht_bits(4.503599627370496e+15));
  double v16 = (v14 - 4.503599627371519e+15);
  double v18 = (v16 - 54.0);
  double v19 = v16;
  if (v2) {
    v19 = v18;
  }
  double v21 = (v12 - 1.0);
  double v23 = (2.0 + v21);
  double v24 = (v21 / v23);
  double v25 = (v24 * v24);
  double v28 = ht_fma(0.14798198605116586, v25, 0.15313837699209373);
  double v30 = ht_fma(v28, v25, 0.1818357216161805);
  double v32 = ht_fma(v30, v25, 0.22222198432149784);
  double v34 = ht_fma(v32, v25, 0.2857142874366239);
  double v36 = ht_fma(v34, v25, 0.3999999999940942);
  double v38 = ht_fma(v36, v25, 0.6666666666666735);
  double v39 = (v25 * v38);
  double v41 = (0.5 * v21);
  double v42 = (v41 * v21);
  double v43 = (v42 + v39);
  double v45 = ht_fma(v19, 1.9082149292705877e-10, 0.0);
  double v46 = ht_fma(v24, v43, v45);
  double v48 = (v19 * 0.6931471803691238);
  double v49 = (v42 - v46);
  double v50 = (v49 - v21);
  double v51 = (v48 - v50);
  bool v53 = v0 < ht_double(0x7ff0000000000000ull);
  double v54 = v0;
  if (v53) {
    v54 = v51;
  }
  bool v55 = v0 < 0.0;
  double v57 = v54;
  if (v55) {
    v57 = ht_double(0x7ff8000000000001ull);
  }
  bool v58 = v0 == 0.0;
  double v60 = v57;
  if (v58) {
    v60 = ht_double(0xfff0000000000000ull);
  }
  return v60;
}
// log1p64 returns log(1 + x).
HT_MATH double log1p64(double v0) {
  double v2 = (1.0 + v0);
  double v3 = (v2 - 1.0);
  double v4 = (v2 - v3);
  double v5 = (1.0 - v4);
  double v6 = (v0 - v3);
  double v7 = (v5 + v6);
  double v9 = ht_double(ht_bits(v2) + ht_bits(ht_double(0x95f619980c433ull)));
  double v10 = ht_double(ht_bits(v9) >> 52);
  double v11 = ht_double(ht_bits(v10) << 52);
  double v12 = ht_double(ht_bits(v2) - ht_bits(v11));
  double v13 = ht_double(ht_bits(v12) + ht_bits(1.0));
  double v15 = ht_double(ht_bits(v10) | ht_bits(4.503599627370496e+15));
  double v17 = (v15 - 4.503599627371519e+15);
  double v18 = (v7 / v2);
  double v19 = (v13 - 1.0);
  double v21 = (2.0 + v19);
  double v22 = (v19 / v21);
  double v23 = (v22 * v22);
  double v26 = ht_fma(0.14798198605116586, v23, 0.15313837699209373);
  double v28 = ht_fma(v26, v23, 0.1818357216161805);
  double v30 = ht_fma(v28, v23, 0.22222198432149784);
  double v32 = ht_fma(v30, v23, 0.2857142874366239);
  double v34 = ht_fma(v32, v23, 0.3999999999940942);
  double v36 = ht_fma(v34, v23, 0.6666666666666735);
  double v37 = (v23 * v36);
  double v39 = (0.5 * v19);
  double v40 = (v39 * v19);
  double v41 = (v40 + v37);
  double v43 = ht_fma(v17, 1.9082149292705877e-10, v18);
  double v44 = ht_fma(v22, v41, v43);
  double v46 = (v17 * 0.6931471803691238);
  double v47 = (v40 - v44);
  double v48 = (v47 - v19);
  double v49 = (v46 - v48);
  bool v51 = v2 < ht_double(0x7ff0000000000000ull);
  double v52 = v2;
  if (v51) {
    v52 = v49;
  }
  bool v54 = v2 < 0.0;
  double v56 = v52;
  if (v54) {
    v56 = ht_double(0x7ff8000000000001ull);
  }
  bool v57 = v2 == 0.0;
  double v59 = v56;
  if (v57) {
    v59 = ht_double(0xfff0000000000000ull);
  }
  double v61 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v63 = v61 < 5.551115123125783e-17;
  double v64 = v59;
  if (v63) {
    v64 = v0;
  }
  return v64;
}
// log264 returns the logarithm of x to base 2.
HT_MATH double log264(double v0) {
  bool v2 = v0 < ht_double(0x10000000000000ull);
  double v4 = (v0 * 1.8014398509481984e+16);
  double v5 = v0;
  if (v2) {
    v5 = v4;
  }
  double v7 = ht_double(ht_bits(v5) + ht_bits(ht_double(0x95f619980c433ull)));
  double v8 = ht_double(ht_bits(v7) >> 52);
  double v9 = ht_double(ht_bits(v8) << 52);
  double v10 = ht_double(ht_bits(v5) - ht_bits(v9));
  double v12 = ht_double(ht_bits(v10) + ht_bits(1.0));
  double v14 = ht_double(ht_bits(v8) | ht_bits(4.503599627370496e+15));
  double v16 = (v14 - 4.503599627371519e+15);
  double v18 = (v16 - 54.0);
  double v19 = v16;
  if (v2) {
    v19 = v18;
  }
  double v20 = (v12 - 1.0);
  double v22 = (2.0 + v20);
  double v23 = (v20 / v22);
  double v24 = (v23 * v23);
  double v27 = ht_fma(0.14798198605116586, v24, 0.15313837699209373);
  double v29 = ht_fma(v27, v24, 0.1818357216161805);
  double v31 = ht_fma(v29, v24, 0.22222198432149784);
  double v33 = ht_fma(v31, v24, 0.2857142874366239);
  double v35 = ht_fma(v33, v24, 0.3999999999940942);
  double v37 = ht_fma(v35, v24, 0.6666666666666735);
  double v38 = (v24 * v37);
  double v40 = (0.5 * v20);
  double v41 = (v40 * v20);
  double v42 = (v20 - v41);
  double v43 = (v41 + v38);
  double v44 = (v20 - v42);
  double v45 = (v44 - v41);
  double v46 = ht_fma(v23, v43, v45);
  double v48 = (v42 * 1.4426950408889634);
  double v50 = (ht_double(0x8000000000000000ull) - v48);
  double v51 = ht_fma(v42, 1.4426950408889634, v50);
  double v54 = (v19 * 0.0);
  double v55 = ht_fma(v46, 1.4426950408889634, v54);
  double v56 = ht_fma(v42, 2.0355273740931033e-17, v55);
  double v57 = (v51 + v56);
  double v58 = (v19 * 1.0);
  double v59 = (v58 + v48);
  double v60 = (v58 - v59);
  double v61 = (v60 + v48);
  double v62 = (v61 + v57);
  double v63 = (v59 + v62);
  bool v65 = v0 < ht_double(0x7ff0000000000000ull);
  double v66 = v0;
  if (v65) {
    v66 = v63;
  }
  bool v67 = v0 < 0.0;
  double v69 = v66;
  if (v67) {
    v69 = ht_double(0x7ff8000000000001ull);
  }
  bool v70 = v0 == 0.0;
  double v72 = v69;
  if (v70) {
    v72 = ht_double(0xfff0000000000000ull);
  }
  return v72;
}
// log1064 returns the logarithm of x to base 10.
HT_MATH double log1064(double v0) {
  bool v2 = v0 < ht_double(0x10000000000000ull);
  double v4 = (v0 * 1.8014398509481984e+16);
  double v5 = v0;
  if (v2) {
    v5 = v4;
  }
  double v7 = ht_double(ht_bits(v5) + ht_bits(ht_double(0x95f619980c433ull)));
  double v8 = ht_double(ht_bits(v7) >> 52);
  double v9 = ht_double(ht_bits(v8) << 52);
  double v10 = ht_double(ht_bits(v5) - ht_bits(v9));
  double v12 = ht_double(ht_bits(v10) + ht_bits(1.0));
  double v14 = ht_double(ht_bits(v8) | ht_bits(4.503599627370496e+15));
  double v16 = (v14 - 4.503599627371519e+15);
  double v18 = (v16 - 54.0);
  double v19 = v16;
  if (v2) {
    v19 = v18;
  }
  double v20 = (v12 - 1.0);
  double v22 = (2.0 + v20);
  double v23 = (v20 / v22);
  double v24 = (v23 * v23);
  double v27 = ht_fma(0.14798198605116586, v24, 0.15313837699209373);
  double v29 = ht_fma(v27, v24, 0.1818357216161805);
  double v31 = ht_fma(v29, v24, 0.22222198432149784);
  double v33 = ht_fma(v31, v24, 0.2857142874366239);
  double v35 = ht_fma(v33, v24, 0.3999999999940942);
  double v37 = ht_fma(v35, v24, 0.6666666666666735);
  double v38 = (v24 * v37);
  double v40 = (0.5 * v20);
  double v41 = (v40 * v20);
  double v42 = (v20 - v41);
  double v43 = (v41 + v38);
  double v44 = (v20 - v42);
  double v45 = (v44 - v41);
  double v46 = ht_fma(v23, v43, v45);
  double v48 = (v42 * 0.4342944819032518);
  double v50 = (ht_double(0x8000000000000000ull) - v48);
  double v51 = ht_fma(v42, 0.4342944819032518, v50);
  double v54 = (v19 * 3.694239077158931e-13);
  double v55 = ht_fma(v46, 0.4342944819032518, v54);
  double v56 = ht_fma(v42, 1.098319650216765e-17, v55);
  double v57 = (v51 + v56);
  double v59 = (v19 * 0.30102999566361177);
  double v60 = (v59 + v48);
  double v61 = (v59 - v60);
  double v62 = (v61 + v48);
  double v63 = (v62 + v57);
  double v64 = (v60 + v63);
  bool v66 = v0 < ht_double(0x7ff0000000000000ull);
  double v67 = v0;
  if (v66) {
    v67 = v64;
  }
  bool v69 = v0 < 0.0;
  double v71 = v67;
  if (v69) {
    v71 = ht_double(0x7ff8000000000001ull);
  }
  bool v72 = v0 == 0.0;
  double v74 = v71;
  if (v72) {
    v74 = ht_double(0xfff0000000000000ull);
  }
  return v74;
}
// tanh64 returns the hyperbolic tangent of x.
HT_MATH double tanh64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v4 = (v2 * -2.0);
  double v7 = v4;
  if (710.0 < v4) {
    v7 = 710.0;
  }
  double v8 = v7;
  if (-64.0 > v7) {
    v8 = -64.0;
  }
  double v11 = ht_fma(v8, 1.4426950408889634, 6.755399441055744e+15);
  double v12 = (v11 - 6.755399441055744e+15);
  double v14 = ht_fma(-v12, 0.6931471803691238, v8);
  double v16 = (v12 * 1.9082149292705877e-10);
  double v17 = (v14 - v16);
  double v18 = (v14 - v17);
  double v19 = (v18 - v16);
  double v20 = ht_double(ht_bits(v11) << 52);
  double v22 = ht_double(ht_bits(v20) + ht_bits(0.5));
  double v23 = (v22 - 0.5);
  double v24 = (v22 * v17);
  double v25 = (v23 + v24);
  double v26 = (v23 - v25);
  double v27 = (v26 + v24);
  double v28 = (v23 + 0.5);
  double v29 = (v22 - v28);
  double v30 = (v27 + v29);
  double v33 = ht_fma(1.6059043836821613e-10, v17, 2.08767569878681e-09);
  double v35 = ht_fma(v33, v17, 2.505210838544172e-08);
  double v37 = ht_fma(v35, v17, 2.755731922398589e-07);
  double v39 = ht_fma(v37, v17, 2.7557319223985893e-06);
  double v41 = ht_fma(v39, v17, 2.48015873015873e-05);
  double v43 = ht_fma(v41, v17, 0.0001984126984126984);
  double v45 = ht_fma(v43, v17, 0.001388888888888889);
  double v47 = ht_fma(v45, v17, 0.008333333333333333);
  double v49 = ht_fma(v47, v17, 0.041666666666666664);
  double v51 = ht_fma(v49, v17, 0.16666666666666666);
  double v52 = ht_fma(v51, v17, 0.5);
  double v53 = (v17 * v17);
  double v54 = ht_fma(v19, v17, v19);
  double v55 = ht_fma(v53, v52, v54);
  double v56 = ht_fma(v22, v55, v30);
  double v57 = (v25 + v56);
  double v58 = (v25 - v57);
  double v59 = (v58 + v56);
  double v61 = (1.0 + v57);
  double v62 = (1.0 - v61);
  double v63 = (v62 + v57);
  double v64 = (v63 + v59);
  double v65 = (1.0 / v61);
  double v66 = (v57 * v65);
  double v67 = ht_fma(-v66, v61, v57);
  double v68 = (v67 + v59);
  double v69 = ht_fma(-v66, v64, v68);
  double v70 = (v69 * v65);
  double v71 = (v66 + v70);
  double v72 = ht_double(ht_bits(v71) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v74 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x8000000000000000ull)));
  double v75 = ht_double(ht_bits(v72) | ht_bits(v74));
  double v76 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v78 = v76 < 5.551115123125783e-17;
  double v79 = v75;
  if (v78) {
    v79 = v0;
  }
  return v79;
}
// tanh32 is tanh64 with the digits of a float32, for such an x.
HT_MATH double tanh32(double v0) {
  double v3 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v5 = (v3 * -2.0);
  double v6 = v5;
  if (-40.0 > v5) {
    v6 = -40.0;
  }
  double v9 = ht_fma(v6, 1.4426950408889634, 6.755399441055744e+15);
  double v10 = (v9 - 6.755399441055744e+15);
  double v12 = ht_fma(-v10, 0.6931471805599453, v6);
  double v14 = ht_double(ht_bits(v9) << 52);
  double v15 = ht_double(ht_bits(v14) + ht_bits(1.0));
  double v18 = ht_fma(2.48015873015873e-05, v12, 0.0001984126984126984);
  double v20 = ht_fma(v18, v12, 0.001388888888888889);
  double v22 = ht_fma(v20, v12, 0.008333333333333333);
  double v24 = ht_fma(v22, v12, 0.041666666666666664);
  double v26 = ht_fma(v24, v12, 0.16666666666666666);
  double v28 = ht_fma(v26, v12, 0.5);
  double v29 = ht_fma(v28, v12, 1.0);
  double v30 = (v12 * v29);
  double v31 = (v15 - 1.0);
  double v32 = ht_fma(v15, v30, v31);
  double v34 = (2.0 + v32);
  double v35 = (v32 / v34);
  double v36 = ht_double(ht_bits(v35) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v38 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x8000000000000000ull)));
  double v39 = ht_double(ht_bits(v36) | ht_bits(v38));
  return v39;
}
// sinh64 returns the hyperbolic sine of x.
HT_MATH double sinh64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v4 = v2;
  if (40.0 < v2) {
    v4 = 40.0;
  }
  double v7 = v4;
  if (710.0 < v4) {
    v7 = 710.0;
  }
  double v8 = v7;
  if (-64.0 > v7) {
    v8 = -64.0;
  }
  double v11 = ht_fma(v8, 1.4426950408889634, 6.755399441055744e+15);
  double v12 = (v11 - 6.755399441055744e+15);
  double v14 = ht_fma(-v12, 0.6931471803691238, v8);
  double v16 = (v12 * 1.9082149292705877e-10);
  double v17 = (v14 - v16);
  double v18 = (v14 - v17);
  double v19 = (v18 - v16);
  double v20 = ht_double(ht_bits(v11) << 52);
  double v22 = ht_double(ht_bits(v20) + ht_bits(0.5));
  double v23 = (v22 - 0.5);
  double v24 = (v22 * v17);
  double v25 = (v23 + v24);
  double v26 = (v23 - v25);
  double v27 = (v26 + v24);
  double v28 = (v23 + 0.5);
  double v29 = (v22 - v28);
  double v30 = (v27 + v29);
  double v33 = ht_fma(1.6059043836821613e-10, v17, 2.08767569878681e-09);
  double v35 = ht_fma(v33, v17, 2.505210838544172e-08);
  double v37 = ht_fma(v35, v17, 2.755731922398589e-07);
  double v39 = ht_fma(v37, v17, 2.7557319223985893e-06);
  double v41 = ht_fma(v39, v17, 2.48015873015873e-05);
  double v43 = ht_fma(v41, v17, 0.0001984126984126984);
  double v45 = ht_fma(v43, v17, 0.001388888888888889);
  double v47 = ht_fma(v45, v17, 0.008333333333333333);
  double v49 = ht_fma(v47, v17, 0.041666666666666664);
  double v51 = ht_fma(v49, v17, 0.16666666666666666);
  double v52 = ht_fma(v51, v17, 0.5);
  double v53 = (v17 * v17);
  double v54 = ht_fma(v19, v17, v19);
  double v55 = ht_fma(v53, v52, v54);
  double v56 = ht_fma(v22, v55, v30);
  double v57 = (v25 + v56);
  double v58 = (v25 - v57);
  double v59 = (v58 + v56);
  double v61 = (v57 * 2.0);
  double v63 = (1.0 + v61);
  double v64 = (v63 - 1.0);
  double v65 = (v63 - v64);
  double v66 = (1.0 - v65);
  double v67 = (v61 - v64);
  double v68 = (v66 + v67);
  double v69 = ht_fma(v59, 2.0, v68);
  double v70 = (1.0 / v63);
  double v71 = (v57 * v70);
  double v72 = ht_fma(-v71, v63, v57);
  double v73 = (v72 + v59);
  double v74 = ht_fma(-v71, v69, v73);
  double v75 = (v74 * v70);
  double v76 = (v57 + v71);
  double v77 = (v57 - v76);
  double v78 = (v77 + v71);
  double v79 = (v59 + v75);
  double v80 = (v78 + v79);
  double v81 = (v76 + v80);
  bool v83 = v2 < 22.0;
  double v85 = v2;
  if (711.0 < v2) {
    v85 = 711.0;
  }
  double v86 = ht_fma(v85, 1.4426950408889634, 6.755399441055744e+15);
  double v87 = (v86 - 6.755399441055744e+15);
  double v88 = ht_fma(-v87, 0.6931471803691238, v85);
  double v89 = (v87 * 1.9082149292705877e-10);
  double v90 = (v88 - v89);
  double v91 = (v88 - v90);
  double v92 = (v91 - v89);
  double v93 = ht_fma(1.6059043836821613e-10, v90, 2.08767569878681e-09);
  double v94 = ht_fma(v93, v90, 2.505210838544172e-08);
  double v95 = ht_fma(v94, v90, 2.755731922398589e-07);
  double v96 = ht_fma(v95, v90, 2.7557319223985893e-06);
  double v97 = ht_fma(v96, v90, 2.48015873015873e-05);
  double v98 = ht_fma(v97, v90, 0.0001984126984126984);
  double v99 = ht_fma(v98, v90, 0.001388888888888889);
  double v100 = ht_fma(v99, v90, 0.008333333333333333);
  double v101 = ht_fma(v100, v90, 0.041666666666666664);
  double v102 = ht_fma(v101, v90, 0.16666666666666666);
  double v103 = ht_fma(v102, v90, 0.5);
  double v104 = (v90 * v90);
  double v105 = ht_fma(v92, v90, v92);
  double v106 = ht_fma(v104, v103, v105);
  double v107 = (v90 + v106);
  double v108 = (1.0 + v107);
  double v109 = (v87 - 1.0);
  double v110 = ht_fma(v109, 0.5, 6.755399441055744e+15);
  double v111 = (v110 - 6.755399441055744e+15);
  double v112 = (v109 - v111);
  double v113 = (v112 + 6.755399441055744e+15);
  double v114 = ht_double(ht_bits(v110) << 52);
  double v115 = ht_double(ht_bits(v114) + ht_bits(1.0));
  double v116 = (v108 * v115);
  double v117 = ht_double(ht_bits(v113) << 52);
  double v118 = ht_double(ht_bits(v117) + ht_bits(1.0));
  double v119 = (v116 * v118);
  double v120 = v119;
  if (v83) {
    v120 = v81;
  }
  double v122 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x8000000000000000ull)));
  double v123 = ht_double(ht_bits(v120) | ht_bits(v122));
  double v124 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v126 = v124 < 5.551115123125783e-17;
  double v127 = v123;
  if (v126) {
    v127 = v0;
  }
  return v127;
}
// cosh64 returns the hyperbolic cosine of x.
HT_MATH double cosh64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v4 = v2;
  if (40.0 < v2) {
    v4 = 40.0;
  }
  double v7 = ht_fma(v4, 1.4426950408889634, 6.755399441055744e+15);
  double v8 = (v7 - 6.755399441055744e+15);
  double v10 = ht_fma(-v8, 0.6931471803691238, v4);
  double v12 = (v8 * 1.9082149292705877e-10);
  double v13 = (v10 - v12);
  double v14 = (v10 - v13);
  double v15 = (v14 - v12);
  double v19 = ht_fma(1.6059043836821613e-10, v13, 2.08767569878681e-09);
  double v21 = ht_fma(v19, v13, 2.505210838544172e-08);
  double v23 = ht_fma(v21, v13, 2.755731922398589e-07);
  double v25 = ht_fma(v23, v13, 2.7557319223985893e-06);
  double v27 = ht_fma(v25, v13, 2.48015873015873e-05);
  double v29 = ht_fma(v27, v13, 0.0001984126984126984);
  double v31 = ht_fma(v29, v13, 0.001388888888888889);
  double v33 = ht_fma(v31, v13, 0.008333333333333333);
  double v35 = ht_fma(v33, v13, 0.041666666666666664);
  double v37 = ht_fma(v35, v13, 0.16666666666666666);
  double v39 = ht_fma(v37, v13, 0.5);
  double v40 = (v13 * v13);
  double v41 = ht_fma(v15, v13, v15);
  double v42 = ht_fma(v40, v39, v41);
  double v43 = (1.0 + v13);
  double v44 = (1.0 - v43);
  double v45 = (v44 + v13);
  double v46 = (v45 + v42);
  double v47 = (v43 + v46);
  double v48 = ht_fma(v8, 0.5, 6.755399441055744e+15);
  double v49 = (v48 - 6.755399441055744e+15);
  double v50 = (v8 - v49);
  double v51 = (v50 + 6.755399441055744e+15);
  double v52 = ht_double(ht_bits(v48) << 52);
  double v53 = ht_double(ht_bits(v52) + ht_bits(1.0));
  double v54 = (v47 * v53);
  double v55 = ht_double(ht_bits(v51) << 52);
  double v56 = ht_double(ht_bits(v55) + ht_bits(1.0));
  double v57 = (v54 * v56);
  double v58 = (v43 - v47);
  double v59 = (v58 + v46);
  double v60 = ht_fma(v8, 0.5, 6.755399441055744e+15);
  double v61 = (v60 - 6.755399441055744e+15);
  double v62 = (v8 - v61);
  double v63 = (v62 + 6.755399441055744e+15);
  double v64 = ht_double(ht_bits(v60) << 52);
  double v65 = ht_double(ht_bits(v64) + ht_bits(1.0));
  double v66 = (v59 * v65);
  double v67 = ht_double(ht_bits(v63) << 52);
  double v68 = ht_double(ht_bits(v67) + ht_bits(1.0));
  double v69 = (v66 * v68);
  double v71 = (1.0 / v57);
  double v72 = (1.0 * v71);
  double v73 = ht_fma(-v72, v57, 1.0);
  double v74 = (v73 + 0.0);
  double v75 = ht_fma(-v72, v69, v74);
  double v76 = (v75 * v71);
  double v77 = (v57 + v72);
  double v78 = (v57 - v77);
  double v79 = (v78 + v72);
  double v80 = (v69 + v76);
  double v81 = (v79 + v80);
  double v82 = (v77 + v81);
  bool v84 = v2 < 22.0;
  double v85 = (v82 * 0.5);
  double v87 = v2;
  if (711.0 < v2) {
    v87 = 711.0;
  }
  double v88 = ht_fma(v87, 1.4426950408889634, 6.755399441055744e+15);
  double v89 = (v88 - 6.755399441055744e+15);
  double v90 = ht_fma(-v89, 0.6931471803691238, v87);
  double v91 = (v89 * 1.9082149292705877e-10);
  double v92 = (v90 - v91);
  double v93 = (v90 - v92);
  double v94 = (v93 - v91);
  double v95 = ht_fma(1.6059043836821613e-10, v92, 2.08767569878681e-09);
  double v96 = ht_fma(v95, v92, 2.505210838544172e-08);
  double v97 = ht_fma(v96, v92, 2.755731922398589e-07);
  double v98 = ht_fma(v97, v92, 2.7557319223985893e-06);
  double v99 = ht_fma(v98, v92, 2.48015873015873e-05);
  double v100 = ht_fma(v99, v92, 0.0001984126984126984);
  double v101 = ht_fma(v100, v92, 0.001388888888888889);
  double v102 = ht_fma(v101, v92, 0.008333333333333333);
  double v103 = ht_fma(v102, v92, 0.041666666666666664);
  double v104 = ht_fma(v103, v92, 0.16666666666666666);
  double v105 = ht_fma(v104, v92, 0.5);
  double v106 = (v92 * v92);
  double v107 = ht_fma(v94, v92, v94);
  double v108 = ht_fma(v106, v105, v107);
  double v109 = (v92 + v108);
  double v110 = (1.0 + v109);
  double v111 = (v89 - 1.0);
  double v112 = ht_fma(v111, 0.5, 6.755399441055744e+15);
  double v113 = (v112 - 6.755399441055744e+15);
  double v114 = (v111 - v113);
  double v115 = (v114 + 6.755399441055744e+15);
  double v116 = ht_double(ht_bits(v112) << 52);
  double v117 = ht_double(ht_bits(v116) + ht_bits(1.0));
  double v118 = (v110 * v117);
  double v119 = ht_double(ht_bits(v115) << 52);
  double v120 = ht_double(ht_bits(v119) + ht_bits(1.0));
  double v121 = (v118 * v120);
  double v122 = v121;
  if (v84) {
    v122 = v85;
  }
  return v122;
}
// sigmoid64 returns 1 / (1 + e^-x).
HT_MATH double sigmoid64(double v0) {
  double v3 = ht_double(ht_bits(v0) | ht_bits(ht_double(0x8000000000000000ull)));
  double v4 = v3;
  if (-746.0 > v3) {
    v4 = -746.0;
  }
  double v7 = ht_fma(v4, 1.4426950408889634, 6.755399441055744e+15);
  double v8 = (v7 - 6.755399441055744e+15);
  double v10 = ht_fma(-v8, 0.6931471803691238, v4);
  double v12 = (v8 * 1.9082149292705877e-10);
  double v13 = (v10 - v12);
  double v14 = (v10 - v13);
  double v15 = (v14 - v12);
  double v19 = ht_fma(1.6059043836821613e-10, v13, 2.08767569878681e-09);
  double v21 = ht_fma(v19, v13, 2.505210838544172e-08);
  double v23 = ht_fma(v21, v13, 2.755731922398589e-07);
  double v25 = ht_fma(v23, v13, 2.7557319223985893e-06);
  double v27 = ht_fma(v25, v13, 2.48015873015873e-05);
  double v29 = ht_fma(v27, v13, 0.0001984126984126984);
  double v31 = ht_fma(v29, v13, 0.001388888888888889);
  double v33 = ht_fma(v31, v13, 0.008333333333333333);
  double v35 = ht_fma(v33, v13, 0.041666666666666664);
  double v37 = ht_fma(v35, v13, 0.16666666666666666);
  double v39 = ht_fma(v37, v13, 0.5);
  double v40 = (v13 * v13);
  double v41 = ht_fma(v15, v13, v15);
  double v42 = ht_fma(v40, v39, v41);
  double v43 = (1.0 + v13);
  double v44 = (1.0 - v43);
  double v45 = (v44 + v13);
  double v46 = (v45 + v42);
  double v47 = (v43 + v46);
  double v48 = ht_fma(v8, 0.5, 6.755399441055744e+15);
  double v49 = (v48 - 6.755399441055744e+15);
  double v50 = (v8 - v49);
  double v51 = (v50 + 6.755399441055744e+15);
  double v52 = ht_double(ht_bits(v48) << 52);
  double v53 = ht_double(ht_bits(v52) + ht_bits(1.0));
  double v54 = (v47 * v53);
  double v55 = ht_double(ht_bits(v51) << 52);
  double v56 = ht_double(ht_bits(v55) + ht_bits(1.0));
  double v57 = (v54 * v56);
  double v58 = (v43 - v47);
  double v59 = (v58 + v46);
  double v60 = ht_fma(v8, 0.5, 6.755399441055744e+15);
  double v61 = (v60 - 6.755399441055744e+15);
  double v62 = (v8 - v61);
  double v63 = (v62 + 6.755399441055744e+15);
  double v64 = ht_double(ht_bits(v60) << 52);
  double v65 = ht_double(ht_bits(v64) + ht_bits(1.0));
  double v66 = (v59 * v65);
  double v67 = ht_double(ht_bits(v63) << 52);
  double v68 = ht_double(ht_bits(v67) + ht_bits(1.0));
  double v69 = (v66 * v68);
  double v70 = (1.0 + v57);
  double v71 = (1.0 - v70);
  double v72 = (v71 + v57);
  double v73 = (v72 + v69);
  bool v75 = v0 < 0.0;
  double v76 = (1.0);
  if (v75) {
    v76 = v57;
  }
  double v77 = (0.0);
  if (v75) {
    v77 = v69;
  }
  double v78 = (1.0 / v70);
  double v79 = (v76 * v78);
  double v80 = ht_fma(-v79, v70, v76);
  double v81 = (v80 + v77);
  double v82 = ht_fma(-v79, v73, v81);
  double v83 = (v82 * v78);
  double v84 = (v79 + v83);
  return v84;
}
// sigmoid32 is sigmoid64 with the digits of a float32, for such an x.
HT_MATH double sigmoid32(double v0) {
  double v4 = v0;
  if (105.0 < v0) {
    v4 = 105.0;
  }
  double v5 = v4;
  if (-105.0 > v4) {
    v5 = -105.0;
  }
  double v7 = (ht_double(0x8000000000000000ull) - v5);
  double v10 = ht_fma(v7, 1.4426950408889634, 6.755399441055744e+15);
  double v11 = (v10 - 6.755399441055744e+15);
  double v13 = ht_fma(-v11, 0.6931471805599453, v7);
  double v16 = ht_fma(2.48015873015873e-05, v13, 0.0001984126984126984);
  double v18 = ht_fma(v16, v13, 0.001388888888888889);
  double v20 = ht_fma(v18, v13, 0.008333333333333333);
  double v22 = ht_fma(v20, v13, 0.041666666666666664);
  double v24 = ht_fma(v22, v13, 0.16666666666666666);
  double v26 = ht_fma(v24, v13, 0.5);
  double v27 = ht_fma(v26, v13, 1.0);
  double v28 = ht_fma(v27, v13, 1.0);
  double v29 = ht_double(ht_bits(v10) << 52);
  double v30 = ht_double(ht_bits(v28) + ht_bits(v29));
  double v31 = (1.0 + v30);
  double v32 = (1.0 / v31);
  return v32;
}
// silu64 returns x / (1 + e^-x).
HT_MATH double silu64(double v0) {
  double v3 = ht_double(ht_bits(v0) | ht_bits(ht_double(0x8000000000000000ull)));
  double v4 = v3;
  if (-746.0 > v3) {
    v4 = -746.0;
  }
  double v7 = ht_fma(v4, 1.4426950408889634, 6.755399441055744e+15);
  double v8 = (v7 - 6.755399441055744e+15);
  double v10 = ht_fma(-v8, 0.6931471803691238, v4);
  double v12 = (v8 * 1.9082149292705877e-10);
  double v13 = (v10 - v12);
  double v14 = (v10 - v13);
  double v15 = (v14 - v12);
  double v19 = ht_fma(1.6059043836821613e-10, v13, 2.08767569878681e-09);
  double v21 = ht_fma(v19, v13, 2.505210838544172e-08);
  double v23 = ht_fma(v21, v13, 2.755731922398589e-07);
  double v25 = ht_fma(v23, v13, 2.7557319223985893e-06);
  double v27 = ht_fma(v25, v13, 2.48015873015873e-05);
  double v29 = ht_fma(v27, v13, 0.0001984126984126984);
  double v31 = ht_fma(v29, v13, 0.001388888888888889);
  double v33 = ht_fma(v31, v13, 0.008333333333333333);
  double v35 = ht_fma(v33, v13, 0.041666666666666664);
  double v37 = ht_fma(v35, v13, 0.16666666666666666);
  double v39 = ht_fma(v37, v13, 0.5);
  double v40 = (v13 * v13);
  double v41 = ht_fma(v15, v13, v15);
  double v42 = ht_fma(v40, v39, v41);
  double v43 = (1.0 + v13);
  double v44 = (1.0 - v43);
  double v45 = (v44 + v13);
  double v46 = (v45 + v42);
  double v47 = (v43 + v46);
  double v48 = ht_fma(v8, 0.5, 6.755399441055744e+15);
  double v49 = (v48 - 6.755399441055744e+15);
  double v50 = (v8 - v49);
  double v51 = (v50 + 6.755399441055744e+15);
  double v52 = ht_double(ht_bits(v48) << 52);
  double v53 = ht_double(ht_bits(v52) + ht_bits(1.0));
  double v54 = (v47 * v53);
  double v55 = ht_double(ht_bits(v51) << 52);
  double v56 = ht_double(ht_bits(v55) + ht_bits(1.0));
  double v57 = (v54 * v56);
  double v58 = (v43 - v47);
  double v59 = (v58 + v46);
  double v60 = ht_fma(v8, 0.5, 6.755399441055744e+15);
  double v61 = (v60 - 6.755399441055744e+15);
  double v62 = (v8 - v61);
  double v63 = (v62 + 6.755399441055744e+15);
  double v64 = ht_double(ht_bits(v60) << 52);
  double v65 = ht_double(ht_bits(v64) + ht_bits(1.0));
  double v66 = (v59 * v65);
  double v67 = ht_double(ht_bits(v63) << 52);
  double v68 = ht_double(ht_bits(v67) + ht_bits(1.0));
  double v69 = (v66 * v68);
  double v70 = (1.0 + v57);
  double v71 = (1.0 - v70);
  double v72 = (v71 + v57);
  double v73 = (v72 + v69);
  bool v75 = v0 < 0.0;
  double v76 = (1.0);
  if (v75) {
    v76 = v57;
  }
  double v77 = (0.0);
  if (v75) {
    v77 = v69;
  }
  double v78 = (1.0 / v70);
  double v79 = (v76 * v78);
  double v80 = ht_fma(-v79, v70, v76);
  double v81 = (v80 + v77);
  double v82 = ht_fma(-v79, v73, v81);
  double v83 = (v82 * v78);
  double v84 = (v79 + v83);
  double v85 = (v0 * v84);
  return v85;
}
// silu32 is silu64 with the digits of a float32, for such an x.
HT_MATH double silu32(double v0) {
  bool v2 = -150.0 < v0;
  double v5 = v0;
  if (150.0 < v0) {
    v5 = 150.0;
  }
  double v6 = v5;
  if (-150.0 > v5) {
    v6 = -150.0;
  }
  double v8 = (ht_double(0x8000000000000000ull) - v6);
  double v11 = ht_fma(v8, 1.4426950408889634, 6.755399441055744e+15);
  double v12 = (v11 - 6.755399441055744e+15);
  double v14 = ht_fma(-v12, 0.6931471805599453, v8);
  double v17 = ht_fma(2.48015873015873e-05, v14, 0.0001984126984126984);
  double v19 = ht_fma(v17, v14, 0.001388888888888889);
  double v21 = ht_fma(v19, v14, 0.008333333333333333);
  double v23 = ht_fma(v21, v14, 0.041666666666666664);
  double v25 = ht_fma(v23, v14, 0.16666666666666666);
  double v27 = ht_fma(v25, v14, 0.5);
  double v28 = ht_fma(v27, v14, 1.0);
  double v29 = ht_fma(v28, v14, 1.0);
  double v30 = ht_double(ht_bits(v11) << 52);
  double v31 = ht_double(ht_bits(v29) + ht_bits(v30));
  double v32 = (1.0 + v31);
  double v33 = (1.0 / v32);
  double v35 = (0.0);
  if (v2) {
    v35 = v33;
  }
  double v36 = (v0 * v35);
  return v36;
}
// softplus64 returns log(1 + e^x).
HT_MATH double softplus64(double v0) {
  double v2 = ht_double(ht_bits(v0) | ht_bits(ht_double(0x8000000000000000ull)));
  double v5 = v2;
  if (710.0 < v2) {
    v5 = 710.0;
  }
  double v6 = v5;
  if (-746.0 > v5) {
    v6 = -746.0;
  }
  double v9 = ht_fma(v6, 1.4426950408889634, 6.755399441055744e+15);
  double v10 = (v9 - 6.755399441055744e+15);
  double v12 = ht_fma(-v10, 0.6931471803691238, v6);
  double v14 = (v10 * 1.9082149292705877e-10);
  double v15 = (v12 - v14);
  double v16 = (v12 - v15);
  double v17 = (v16 - v14);
  double v21 = ht_fma(1.6059043836821613e-10, v15, 2.08767569878681e-09);
  double v23 = ht_fma(v21, v15, 2.505210838544172e-08);
  double v25 = ht_fma(v23, v15, 2.755731922398589e-07);
  double v27 = ht_fma(v25, v15, 2.7557319223985893e-06);
  double v29 = ht_fma(v27, v15, 2.48015873015873e-05);
  double v31 = ht_fma(v29, v15, 0.0001984126984126984);
  double v33 = ht_fma(v31, v15, 0.001388888888888889);
  double v35 = ht_fma(v33, v15, 0.008333333333333333);
  double v37 = ht_fma(v35, v15, 0.041666666666666664);
  double v39 = ht_fma(v37, v15, 0.16666666666666666);
  double v41 = ht_fma(v39, v15, 0.5);
  double v42 = (v15 * v15);
  double v43 = ht_fma(v17, v15, v17);
  double v44 = ht_fma(v42, v41, v43);
  double v45 = (v15 + v44);
  double v46 = (1.0 + v45);
  double v47 = ht_fma(v10, 0.5, 6.755399441055744e+15);
  double v48 = (v47 - 6.755399441055744e+15);
  double v49 = (v10 - v48);
  double v50 = (v49 + 6.755399441055744e+15);
  double v51 = ht_double(ht_bits(v47) << 52);
  double v52 = ht_double(ht_bits(v51) + ht_bits(1.0));
  double v53 = (v46 * v52);
  double v54 = ht_double(ht_bits(v50) << 52);
  double v55 = ht_double(ht_bits(v54) + ht_bits(1.0));
  double v56 = (v53 * v55);
  double v57 = (1.0 + v56);
  double v58 = (v57 - 1.0);
  double v59 = (v57 - v58);
  double v60 = (1.0 - v59);
  double v61 = (v56 - v58);
  double v62 = (v60 + v61);
  double v64 = ht_double(ht_bits(v57) + ht_bits(ht_double(0x95f619980c433ull)));
  double v65 = ht_double(ht_bits(v64) >> 52);
  double v66 = ht_double(ht_bits(v65) << 52);
  double v67 = ht_double(ht_bits(v57) - ht_bits(v66));
  double v68 = ht_double(ht_bits(v67) + ht_bits(1.0));
  double v70 = ht_double(ht_bits(v65) | ht_bits(4.503599627370496e+15));
  double v72 = (v70 - 4.503599627371519e+15);
  double v73 = (v62 / v57);
  double v74 = (v68 - 1.0);
  double v76 = (2.0 + v74);
  double v77 = (v74 / v76);
  double v78 = (v77 * v77);
  double v81 = ht_fma(0.14798198605116586, v78, 0.15313837699209373);
  double v83 = ht_fma(v81, v78, 0.1818357216161805);
  double v85 = ht_fma(v83, v78, 0.22222198432149784);
  double v87 = ht_fma(v85, v78, 0.2857142874366239);
  double v89 = ht_fma(v87, v78, 0.3999999999940942);
  double v91 = ht_fma(v89, v78, 0.6666666666666735);
  double v92 = (v78 * v91);
  double v93 = (0.5 * v74);
  double v94 = (v93 * v74);
  double v95 = (v94 + v92);
  double v96 = ht_fma(v72, 1.9082149292705877e-10, v73);
  double v97 = ht_fma(v77, v95, v96);
  double v98 = (v72 * 0.6931471803691238);
  double v99 = (v94 - v97);
  double v100 = (v99 - v74);
  double v101 = (v98 - v100);
  bool v103 = v57 < ht_double(0x7ff0000000000000ull);
  double v104 = v57;
  if (v103) {
    v104 = v101;
  }
  bool v106 = v57 < 0.0;
  double v108 = v104;
  if (v106) {
    v108 = ht_double(0x7ff8000000000001ull);
  }
  bool v109 = v57 == 0.0;
  double v111 = v108;
  if (v109) {
    v111 = ht_double(0xfff0000000000000ull);
  }
  double v113 = ht_double(ht_bits(v56) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v115 = v113 < 5.551115123125783e-17;
  double v116 = v111;
  if (v115) {
    v116 = v56;
  }
  double v117 = (0.0);
  if (v0 > 0.0) {
    v117 = v0;
  }
  double v118 = (v117 + v116);
  return v118;
}
// erf64 returns the error function of x.
HT_MATH double erf64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v3 = (v0 * v0);
  double v6 = ht_fma(9.422759064650411e-11, v3, -1.2290555301717926e-09);
  double v8 = ht_fma(v6, v3, 1.4807192815879218e-08);
  double v10 = ht_fma(v8, v3, -1.6365844691234924e-07);
  double v12 = ht_fma(v10, v3, 1.6462114365889246e-06);
  double v14 = ht_fma(v12, v3, -1.492565035840625e-05);
  double v16 = ht_fma(v14, v3, 0.00012055332981789664);
  double v18 = ht_fma(v16, v3, -0.0008548327023450852);
  double v20 = ht_fma(v18, v3, 0.005223977625442188);
  double v22 = ht_fma(v20, v3, -0.026866170645131252);
  double v24 = ht_fma(v22, v3, 0.11283791670955126);
  double v26 = ht_fma(v24, v3, -0.37612638903183754);
  double v28 = ht_fma(v26, v3, 0.1283791670955126);
  double v29 = ht_fma(v0, v28, v0);
  double v32 = v2;
  if (28.0 < v2) {
    v32 = 28.0;
  }
  double v34 = (v32 - 4.0);
  double v35 = (v32 + 4.0);
  double v36 = (v34 / v35);
  double v39 = ht_fma(-1.0476718674668371e-08, v36, -1.2224048303152388e-08);
  double v41 = ht_fma(v39, v36, 1.0568025135820959e-07);
  double v43 = ht_fma(v41, v36, 6.702452833728971e-08);
  double v45 = ht_fma(v43, v36, -8.22559563206072e-07);
  double v47 = ht_fma(v45, v36, 2.9955790685567077e-07);
  double v49 = ht_fma(v47, v36, 5.7086428044048145e-06);
  double v51 = ht_fma(v49, v36, -1.12247322473501e-05);
  double v53 = ht_fma(v51, v36, -2.4398983809134553e-05);
  double v55 = ht_fma(v53, v36, 0.00015062249512264785);
  double v57 = ht_fma(v55, v36, -0.00019925671345040716);
  double v59 = ht_fma(v57, v36, -0.0007577734486762808);
  double v61 = ht_fma(v59, v36, 0.0050319699756138135);
  double v63 = ht_fma(v61, v36, -0.01619773403826592);
  double v65 = ht_fma(v63, v36, 0.03716751553818893);
  double v67 = ht_fma(v65, v36, -0.06633036581360713);
  double v69 = ht_fma(v67, v36, 0.09373283499828751);
  double v71 = ht_fma(v69, v36, -0.10103906603625375);
  double v73 = ht_fma(v71, v36, 0.0680970542546948);
  double v75 = ht_fma(v73, v36, 0.015379652102619027);
  double v77 = ht_fma(v75, v36, -0.13962111684056253);
  double v78 = (v36 * v77);
  double v80 = (1.2329951186255526 + v78);
  double v81 = (1.2329951186255526 - v80);
  double v82 = (v81 + v78);
  double v84 = (v82 + -4.385618197502668e-17);
  double v86 = (v32 * 2.0);
  double v87 = (1.0 + v86);
  bool v88 = 1.0 < v86;
  double v89 = (v87 - v86);
  double v90 = (1.0 - v89);
  double v91 = (v87 - 1.0);
  double v92 = (v86 - v91);
  double v93 = v92;
  if (v88) {
    v93 = v90;
  }
  double v94 = (1.0 / v87);
  double v95 = (v80 * v94);
  double v96 = ht_fma(-v95, v87, v80);
  double v97 = (v96 + v84);
  double v98 = ht_fma(-v95, v93, v97);
  double v99 = (v98 * v94);
  double v100 = (v32 * v32);
  double v102 = (ht_double(0x8000000000000000ull) - v100);
  double v103 = (ht_double(0x8000000000000000ull) - v102);
  double v104 = ht_fma(-v32, v32, v103);
  double v107 = ht_fma(v102, 1.4426950408889634, 6.755399441055744e+15);
  double v108 = (v107 - 6.755399441055744e+15);
  double v110 = ht_fma(-v108, 0.6931471803691238, v102);
  double v112 = (v108 * 1.9082149292705877e-10);
  double v113 = (v110 - v112);
  double v114 = (v110 - v113);
  double v115 = (v114 - v112);
  double v118 = ht_fma(1.6059043836821613e-10, v113, 2.08767569878681e-09);
  double v120 = ht_fma(v118, v113, 2.505210838544172e-08);
  double v122 = ht_fma(v120, v113, 2.755731922398589e-07);
  double v124 = ht_fma(v122, v113, 2.7557319223985893e-06);
  double v126 = ht_fma(v124, v113, 2.48015873015873e-05);
  double v128 = ht_fma(v126, v113, 0.0001984126984126984);
  double v130 = ht_fma(v128, v113, 0.001388888888888889);
  double v132 = ht_fma(v130, v113, 0.008333333333333333);
  double v134 = ht_fma(v132, v113, 0.041666666666666664);
  double v136 = ht_fma(v134, v113, 0.16666666666666666);
  double v138 = ht_fma(v136, v113, 0.5);
  double v139 = (v113 * v113);
  double v140 = ht_fma(v115, v113, v115);
  double v141 = ht_fma(v139, v138, v140);
  double v142 = (v113 + v141);
  double v143 = ht_fma(v95, v104, v99);
  double v144 = ht_fma(v143, v142, v143);
  double v145 = ht_fma(v95, v142, v144);
  double v146 = (v95 + v145);
  double v147 = ht_fma(v108, 0.5, 6.755399441055744e+15);
  double v148 = (v147 - 6.755399441055744e+15);
  double v149 = (v108 - v148);
  double v150 = (v149 + 6.755399441055744e+15);
  double v151 = ht_double(ht_bits(v147) << 52);
  double v152 = ht_double(ht_bits(v151) + ht_bits(1.0));
  double v153 = (v146 * v152);
  double v154 = ht_double(ht_bits(v150) << 52);
  double v155 = ht_double(ht_bits(v154) + ht_bits(1.0));
  double v156 = (v153 * v155);
  double v157 = (1.0 - v156);
  double v158 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x8000000000000000ull)));
  double v159 = ht_double(ht_bits(v157) | ht_bits(v158));
  bool v160 = v2 < 0.5;
  double v161 = v159;
  if (v160) {
    v161 = v29;
  }
  return v161;
}
// erfc64 returns 1 - erf(x), accurate where that is small.
HT_MATH double erfc64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v4 = v2;
  if (28.0 < v2) {
    v4 = 28.0;
  }
  double v6 = (v4 - 4.0);
  double v7 = (v4 + 4.0);
  double v8 = (v6 / v7);
  double v11 = ht_fma(-1.0476718674668371e-08, v8, -1.2224048303152388e-08);
  double v13 = ht_fma(v11, v8, 1.0568025135820959e-07);
  double v15 = ht_fma(v13, v8, 6.702452833728971e-08);
  double v17 = ht_fma(v15, v8, -8.22559563206072e-07);
  double v19 = ht_fma(v17, v8, 2.9955790685567077e-07);
  double v21 = ht_fma(v19, v8, 5.7086428044048145e-06);
  double v23 = ht_fma(v21, v8, -1.12247322473501e-05);
  double v25 = ht_fma(v23, v8, -2.4398983809134553e-05);
  double v27 = ht_fma(v25, v8, 0.00015062249512264785);
  double v29 = ht_fma(v27, v8, -0.00019925671345040716);
  double v31 = ht_fma(v29, v8, -0.0007577734486762808);
  double v33 = ht_fma(v31, v8, 0.0050319699756138135);
  double v35 = ht_fma(v33, v8, -0.01619773403826592);
  double v37 = ht_fma(v35, v8, 0.03716751553818893);
  double v39 = ht_fma(v37, v8, -0.06633036581360713);
  double v41 = ht_fma(v39, v8, 0.09373283499828751);
  double v43 = ht_fma(v41, v8, -0.10103906603625375);
  double v45 = ht_fma(v43, v8, 0.0680970542546948);
  double v47 = ht_fma(v45, v8, 0.015379652102619027);
  double v49 = ht_fma(v47, v8, -0.13962111684056253);
  double v50 = (v8 * v49);
  double v52 = (1.2329951186255526 + v50);
  double v53 = (1.2329951186255526 - v52);
  double v54 = (v53 + v50);
  double v56 = (v54 + -4.385618197502668e-17);
  double v59 = (v4 * 2.0);
  double v60 = (1.0 + v59);
  bool v61 = 1.0 < v59;
  double v62 = (v60 - v59);
  double v63 = (1.0 - v62);
  double v64 = (v60 - 1.0);
  double v65 = (v59 - v64);
  double v66 = v65;
  if (v61) {
    v66 = v63;
  }
  double v67 = (1.0 / v60);
  double v68 = (v52 * v67);
  double v69 = ht_fma(-v68, v60, v52);
  double v70 = (v69 + v56);
  double v71 = ht_fma(-v68, v66, v70);
  double v72 = (v71 * v67);
  double v73 = (v4 * v4);
  double v75 = (ht_double(0x8000000000000000ull) - v73);
  double v76 = (ht_double(0x8000000000000000ull) - v75);
  double v77 = ht_fma(-v4, v4, v76);
  double v80 = ht_fma(v75, 1.4426950408889634, 6.755399441055744e+15);
  double v81 = (v80 - 6.755399441055744e+15);
  double v83 = ht_fma(-v81, 0.6931471803691238, v75);
  double v85 = (v81 * 1.9082149292705877e-10);
  double v86 = (v83 - v85);
  double v87 = (v83 - v86);
  double v88 = (v87 - v85);
  double v91 = ht_fma(1.6059043836821613e-10, v86, 2.08767569878681e-09);
  double v93 = ht_fma(v91, v86, 2.505210838544172e-08);
  double v95 = ht_fma(v93, v86, 2.755731922398589e-07);
  double v97 = ht_fma(v95, v86, 2.7557319223985893e-06);
  double v99 = ht_fma(v97, v86, 2.48015873015873e-05);
  double v101 = ht_fma(v99, v86, 0.0001984126984126984);
  double v103 = ht_fma(v101, v86, 0.001388888888888889);
  double v105 = ht_fma(v103, v86, 0.008333333333333333);
  double v107 = ht_fma(v105, v86, 0.041666666666666664);
  double v109 = ht_fma(v107, v86, 0.16666666666666666);
  double v111 = ht_fma(v109, v86, 0.5);
  double v112 = (v86 * v86);
  double v113 = ht_fma(v88, v86, v88);
  double v114 = ht_fma(v112, v111, v113);
  double v115 = (v86 + v114);
  double v116 = ht_fma(v68, v77, v72);
  double v117 = ht_fma(v116, v115, v116);
  double v118 = ht_fma(v68, v115, v117);
  double v119 = (v68 + v118);
  double v120 = ht_fma(v81, 0.5, 6.755399441055744e+15);
  double v121 = (v120 - 6.755399441055744e+15);
  double v122 = (v81 - v121);
  double v123 = (v122 + 6.755399441055744e+15);
  double v124 = ht_double(ht_bits(v120) << 52);
  double v125 = ht_double(ht_bits(v124) + ht_bits(1.0));
  double v126 = (v119 * v125);
  double v127 = ht_double(ht_bits(v123) << 52);
  double v128 = ht_double(ht_bits(v127) + ht_bits(1.0));
  double v129 = (v126 * v128);
  double v130 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v132 = v0 < 0.0;
  double v133 = (2.0 - v129);
  double v134 = v129;
  if (v132) {
    v134 = v133;
  }
  bool v136 = v0 < 0.25;
  double v137 = (0.5);
  if (v136) {
    v137 = 0.0;
  }
  double v138 = (v0 * v0);
  double v141 = ht_fma(9.422759064650411e-11, v138, -1.2290555301717926e-09);
  double v143 = ht_fma(v141, v138, 1.4807192815879218e-08);
  double v145 = ht_fma(v143, v138, -1.6365844691234924e-07);
  double v147 = ht_fma(v145, v138, 1.6462114365889246e-06);
  double v149 = ht_fma(v147, v138, -1.492565035840625e-05);
  double v151 = ht_fma(v149, v138, 0.00012055332981789664);
  double v153 = ht_fma(v151, v138, -0.0008548327023450852);
  double v155 = ht_fma(v153, v138, 0.005223977625442188);
  double v157 = ht_fma(v155, v138, -0.026866170645131252);
  double v159 = ht_fma(v157, v138, 0.11283791670955126);
  double v161 = ht_fma(v159, v138, -0.37612638903183754);
  double v163 = ht_fma(v161, v138, 0.1283791670955126);
  double v164 = (v0 - v137);
  double v165 = ht_fma(v0, v163, v164);
  double v166 = (1.0 - v137);
  double v167 = (v166 - v165);
  bool v169 = v130 < 0.52;
  double v170 = v134;
  if (v169) {
    v170 = v167;
  }
  return v170;
}
// gelu64 returns x·Φ(x), Φ the distribution function of the normal distribution.
HT_MATH double gelu64(double v0) {
  double v3 = (v0 * -0.7071067811865476);
  double v5 = ht_double(ht_bits(v3) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v7 = v5;
  if (28.0 < v5) {
    v7 = 28.0;
  }
  double v9 = (v7 - 4.0);
  double v10 = (v7 + 4.0);
  double v11 = (v9 / v10);
  double v14 = ht_fma(-1.0476718674668371e-08, v11, -1.2224048303152388e-08);
  double v16 = ht_fma(v14, v11, 1.0568025135820959e-07);
  double v18 = ht_fma(v16, v11, 6.702452833728971e-08);
  double v20 = ht_fma(v18, v11, -8.22559563206072e-07);
  double v22 = ht_fma(v20, v11, 2.9955790685567077e-07);
  double v24 = ht_fma(v22, v11, 5.7086428044048145e-06);
  double v26 = ht_fma(v24, v11, -1.12247322473501e-05);
  double v28 = ht_fma(v26, v11, -2.4398983809134553e-05);
  double v30 = ht_fma(v28, v11, 0.00015062249512264785);
  double v32 = ht_fma(v30, v11, -0.00019925671345040716);
  double v34 = ht_fma(v32, v11, -0.0007577734486762808);
  double v36 = ht_fma(v34, v11, 0.0050319699756138135);
  double v38 = ht_fma(v36, v11, -0.01619773403826592);
  double v40 = ht_fma(v38, v11, 0.03716751553818893);
  double v42 = ht_fma(v40, v11, -0.06633036581360713);
  double v44 = ht_fma(v42, v11, 0.09373283499828751);
  double v46 = ht_fma(v44, v11, -0.10103906603625375);
  double v48 = ht_fma(v46, v11, 0.0680970542546948);
  double v50 = ht_fma(v48, v11, 0.015379652102619027);
  double v52 = ht_fma(v50, v11, -0.13962111684056253);
  double v53 = (v11 * v52);
  double v55 = (1.2329951186255526 + v53);
  double v56 = (1.2329951186255526 - v55);
  double v57 = (v56 + v53);
  double v59 = (v57 + -4.385618197502668e-17);
  double v62 = (v7 * 2.0);
  double v63 = (1.0 + v62);
  bool v64 = 1.0 < v62;
  double v65 = (v63 - v62);
  double v66 = (1.0 - v65);
  double v67 = (v63 - 1.0);
  double v68 = (v62 - v67);
  double v69 = v68;
  if (v64) {
    v69 = v66;
  }
  double v70 = (1.0 / v63);
  double v71 = (v55 * v70);
  double v72 = ht_fma(-v71, v63, v55);
  double v73 = (v72 + v59);
  double v74 = ht_fma(-v71, v69, v73);
  double v75 = (v74 * v70);
  double v76 = (v7 * v7);
  double v78 = (ht_double(0x8000000000000000ull) - v76);
  double v79 = (ht_double(0x8000000000000000ull) - v78);
  double v80 = ht_fma(-v7, v7, v79);
  double v83 = ht_fma(v78, 1.4426950408889634, 6.755399441055744e+15);
  double v84 = (v83 - 6.755399441055744e+15);
  double v86 = ht_fma(-v84, 0.6931471803691238, v78);
  double v88 = (v84 * 1.9082149292705877e-10);
  double v89 = (v86 - v88);
  double v90 = (v86 - v89);
  double v91 = (v90 - v88);
  double v94 = ht_fma(1.6059043836821613e-10, v89, 2.08767569878681e-09);
  double v96 = ht_fma(v94, v89, 2.505210838544172e-08);
  double v98 = ht_fma(v96, v89, 2.755731922398589e-07);
  double v100 = ht_fma(v98, v89, 2.7557319223985893e-06);
  double v102 = ht_fma(v100, v89, 2.48015873015873e-05);
  double v104 = ht_fma(v102, v89, 0.0001984126984126984);
  double v106 = ht_fma(v104, v89, 0.001388888888888889);
  double v108 = ht_fma(v106, v89, 0.008333333333333333);
  double v110 = ht_fma(v108, v89, 0.041666666666666664);
  double v112 = ht_fma(v110, v89, 0.16666666666666666);
  double v113 = ht_fma(v112, v89, 0.5);
  double v114 = (v89 * v89);
  double v115 = ht_fma(v91, v89, v91);
  double v116 = ht_fma(v114, v113, v115);
  double v117 = (v89 + v116);
  double v118 = ht_fma(v71, v80, v75);
  double v119 = ht_fma(v118, v117, v118);
  double v120 = ht_fma(v71, v117, v119);
  double v121 = (v71 + v120);
  double v122 = ht_fma(v84, 0.5, 6.755399441055744e+15);
  double v123 = (v122 - 6.755399441055744e+15);
  double v124 = (v84 - v123);
  double v125 = (v124 + 6.755399441055744e+15);
  double v126 = ht_double(ht_bits(v122) << 52);
  double v127 = ht_double(ht_bits(v126) + ht_bits(1.0));
  double v128 = (v121 * v127);
  double v129 = ht_double(ht_bits(v125) << 52);
  double v130 = ht_double(ht_bits(v129) + ht_bits(1.0));
  double v131 = (v128 * v130);
  double v132 = ht_double(ht_bits(v3) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v134 = v3 < 0.0;
  double v135 = (2.0 - v131);
  double v136 = v131;
  if (v134) {
    v136 = v135;
  }
  bool v138 = v3 < 0.25;
  double v139 = (0.5);
  if (v138) {
    v139 = 0.0;
  }
  double v140 = (v3 * v3);
  double v143 = ht_fma(9.422759064650411e-11, v140, -1.2290555301717926e-09);
  double v145 = ht_fma(v143, v140, 1.4807192815879218e-08);
  double v147 = ht_fma(v145, v140, -1.6365844691234924e-07);
  double v149 = ht_fma(v147, v140, 1.6462114365889246e-06);
  double v151 = ht_fma(v149, v140, -1.492565035840625e-05);
  double v153 = ht_fma(v151, v140, 0.00012055332981789664);
  double v155 = ht_fma(v153, v140, -0.0008548327023450852);
  double v157 = ht_fma(v155, v140, 0.005223977625442188);
  double v159 = ht_fma(v157, v140, -0.026866170645131252);
  double v161 = ht_fma(v159, v140, 0.11283791670955126);
  double v163 = ht_fma(v161, v140, -0.37612638903183754);
  double v165 = ht_fma(v163, v140, 0.1283791670955126);
  double v166 = (v3 - v139);
  double v167 = ht_fma(v3, v165, v166);
  double v168 = (1.0 - v139);
  double v169 = (v168 - v167);
  bool v171 = v132 < 0.52;
  double v172 = v136;
  if (v171) {
    v172 = v169;
  }
  double v173 = (0.5 * v172);
  double v174 = (v0 * v173);
  return v174;
}
// gelu32 is gelu64 with the digits of a float32, for such an x.
HT_MATH double gelu32(double v0) {
  double v5 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v7 = (v5 * 0.7071067811865476);
  double v8 = v7;
  if (12.8 < v7) {
    v8 = 12.8;
  }
  double v9 = (v8 + 4.0);
  double v11 = ht_fma(v8, 2.0, 1.0);
  double v12 = (v9 * v11);
  double v13 = (1.0 / v12);
  double v14 = (v8 - 4.0);
  double v15 = (v14 * v11);
  double v16 = (v15 * v13);
  double v19 = ht_fma(-1.7132486087403545e-05, v16, -2.1274276966839732e-05);
  double v21 = ht_fma(v19, v16, 0.00015704859668137582);
  double v23 = ht_fma(v21, v16, -0.00019915403058068566);
  double v25 = ht_fma(v23, v16, -0.000760604637826834);
  double v27 = ht_fma(v25, v16, 0.005031533543456733);
  double v29 = ht_fma(v27, v16, -0.016197070021936315);
  double v31 = ht_fma(v29, v16, 0.0371676323978995);
  double v33 = ht_fma(v31, v16, -0.06633045367320578);
  double v35 = ht_fma(v33, v16, 0.09373282291625129);
  double v37 = ht_fma(v35, v16, -0.10103905992883928);
  double v39 = ht_fma(v37, v16, 0.06809705470260306);
  double v41 = ht_fma(v39, v16, 0.015379651930950674);
  double v43 = ht_fma(v41, v16, -0.13962111684363232);
  double v45 = ht_fma(v43, v16, 1.2329951186263632);
  double v47 = (0.5 * v45);
  double v48 = (v9 * v13);
  double v49 = (v47 * v48);
  double v50 = (v8 * v8);
  double v52 = (ht_double(0x8000000000000000ull) - v50);
  double v55 = ht_fma(v52, 1.4426950408889634, 6.755399441055744e+15);
  double v56 = (v55 - 6.755399441055744e+15);
  double v58 = ht_fma(-v56, 0.6931471805599453, v52);
  double v61 = ht_fma(2.48015873015873e-05, v58, 0.0001984126984126984);
  double v63 = ht_fma(v61, v58, 0.001388888888888889);
  double v65 = ht_fma(v63, v58, 0.008333333333333333);
  double v67 = ht_fma(v65, v58, 0.041666666666666664);
  double v69 = ht_fma(v67, v58, 0.16666666666666666);
  double v70 = ht_fma(v69, v58, 0.5);
  double v71 = ht_fma(v70, v58, 1.0);
  double v72 = ht_fma(v71, v58, 1.0);
  double v73 = ht_double(ht_bits(v55) << 52);
  double v74 = ht_double(ht_bits(v72) + ht_bits(v73));
  double v75 = (v49 * v74);
  bool v77 = -18.0 < v0;
  double v79 = (0.0);
  if (v77) {
    v79 = v75;
  }
  bool v80 = v0 < 0.0;
  double v81 = (1.0 - v79);
  double v82 = v81;
  if (v80) {
    v82 = v79;
  }
  double v83 = (v0 * v82);
  return v83;
}
// geluSlope64 returns the derivative of gelu.
HT_MATH double geluSlope64(double v0) {
  double v2 = (v0 * -0.7071067811865476);
  double v4 = ht_double(ht_bits(v2) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v6 = v4;
  if (28.0 < v4) {
    v6 = 28.0;
  }
  double v8 = (v6 - 4.0);
  double v9 = (v6 + 4.0);
  double v10 = (v8 / v9);
  double v13 = ht_fma(-1.0476718674668371e-08, v10, -1.2224048303152388e-08);
  double v15 = ht_fma(v13, v10, 1.0568025135820959e-07);
  double v17 = ht_fma(v15, v10, 6.702452833728971e-08);
  double v19 = ht_fma(v17, v10, -8.22559563206072e-07);
  double v21 = ht_fma(v19, v10, 2.9955790685567077e-07);
  double v23 = ht_fma(v21, v10, 5.7086428044048145e-06);
  double v25 = ht_fma(v23, v10, -1.12247322473501e-05);
  double v27 = ht_fma(v25, v10, -2.4398983809134553e-05);
  double v29 = ht_fma(v27, v10, 0.00015062249512264785);
  double v31 = ht_fma(v29, v10, -0.00019925671345040716);
  double v33 = ht_fma(v31, v10, -0.0007577734486762808);
  double v35 = ht_fma(v33, v10, 0.0050319699756138135);
  double v37 = ht_fma(v35, v10, -0.01619773403826592);
  double v39 = ht_fma(v37, v10, 0.03716751553818893);
  double v41 = ht_fma(v39, v10, -0.06633036581360713);
  double v43 = ht_fma(v41, v10, 0.09373283499828751);
  double v45 = ht_fma(v43, v10, -0.10103906603625375);
  double v47 = ht_fma(v45, v10, 0.0680970542546948);
  double v49 = ht_fma(v47, v10, 0.015379652102619027);
  double v51 = ht_fma(v49, v10, -0.13962111684056253);
  double v52 = (v10 * v51);
  double v54 = (1.2329951186255526 + v52);
  double v55 = (1.2329951186255526 - v54);
  double v56 = (v55 + v52);
  double v58 = (v56 + -4.385618197502668e-17);
  double v61 = (v6 * 2.0);
  double v62 = (1.0 + v61);
  bool v63 = 1.0 < v61;
  double v64 = (v62 - v61);
  double v65 = (1.0 - v64);
  double v66 = (v62 - 1.0);
  double v67 = (v61 - v66);
  double v68 = v67;
  if (v63) {
    v68 = v65;
  }
  double v69 = (1.0 / v62);
  double v70 = (v54 * v69);
  double v71 = ht_fma(-v70, v62, v54);
  double v72 = (v71 + v58);
  double v73 = ht_fma(-v70, v68, v72);
  double v74 = (v73 * v69);
  double v75 = (v6 * v6);
  double v77 = (ht_double(0x8000000000000000ull) - v75);
  double v78 = (ht_double(0x8000000000000000ull) - v77);
  double v79 = ht_fma(-v6, v6, v78);
  double v82 = ht_fma(v77, 1.4426950408889634, 6.755399441055744e+15);
  double v83 = (v82 - 6.755399441055744e+15);
  double v85 = ht_fma(-v83, 0.6931471803691238, v77);
  double v87 = (v83 * 1.9082149292705877e-10);
  double v88 = (v85 - v87);
  double v89 = (v85 - v88);
  double v90 = (v89 - v87);
  double v93 = ht_fma(1.6059043836821613e-10, v88, 2.08767569878681e-09);
  double v95 = ht_fma(v93, v88, 2.505210838544172e-08);
  double v97 = ht_fma(v95, v88, 2.755731922398589e-07);
  double v99 = ht_fma(v97, v88, 2.7557319223985893e-06);
  double v101 = ht_fma(v99, v88, 2.48015873015873e-05);
  double v103 = ht_fma(v101, v88, 0.0001984126984126984);
  double v105 = ht_fma(v103, v88, 0.001388888888888889);
  double v107 = ht_fma(v105, v88, 0.008333333333333333);
  double v109 = ht_fma(v107, v88, 0.041666666666666664);
  double v111 = ht_fma(v109, v88, 0.16666666666666666);
  double v113 = ht_fma(v111, v88, 0.5);
  double v114 = (v88 * v88);
  double v115 = ht_fma(v90, v88, v90);
  double v116 = ht_fma(v114, v113, v115);
  double v117 = (v88 + v116);
  double v118 = ht_fma(v70, v79, v74);
  double v119 = ht_fma(v118, v117, v118);
  double v120 = ht_fma(v70, v117, v119);
  double v121 = (v70 + v120);
  double v122 = ht_fma(v83, 0.5, 6.755399441055744e+15);
  double v123 = (v122 - 6.755399441055744e+15);
  double v124 = (v83 - v123);
  double v125 = (v124 + 6.755399441055744e+15);
  double v126 = ht_double(ht_bits(v122) << 52);
  double v127 = ht_double(ht_bits(v126) + ht_bits(1.0));
  double v128 = (v121 * v127);
  double v129 = ht_double(ht_bits(v125) << 52);
  double v130 = ht_double(ht_bits(v129) + ht_bits(1.0));
  double v131 = (v128 * v130);
  double v132 = (1.0 + v117);
  double v133 = ht_fma(v83, 0.5, 6.755399441055744e+15);
  double v134 = (v133 - 6.755399441055744e+15);
  double v135 = (v83 - v134);
  double v136 = (v135 + 6.755399441055744e+15);
  double v137 = ht_double(ht_bits(v133) << 52);
  double v138 = ht_double(ht_bits(v137) + ht_bits(1.0));
  double v139 = (v132 * v138);
  double v140 = ht_double(ht_bits(v136) << 52);
  double v141 = ht_double(ht_bits(v140) + ht_bits(1.0));
  double v142 = (v139 * v141);
  double v144 = (0.3989422804014327 * v142);
  double v145 = ht_double(ht_bits(v2) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v147 = v2 < 0.0;
  double v148 = (2.0 - v131);
  double v149 = v131;
  if (v147) {
    v149 = v148;
  }
  bool v151 = v2 < 0.25;
  double v152 = (0.5);
  if (v151) {
    v152 = 0.0;
  }
  double v153 = (v2 * v2);
  double v156 = ht_fma(9.422759064650411e-11, v153, -1.2290555301717926e-09);
  double v158 = ht_fma(v156, v153, 1.4807192815879218e-08);
  double v160 = ht_fma(v158, v153, -1.6365844691234924e-07);
  double v162 = ht_fma(v160, v153, 1.6462114365889246e-06);
  double v164 = ht_fma(v162, v153, -1.492565035840625e-05);
  double v166 = ht_fma(v164, v153, 0.00012055332981789664);
  double v168 = ht_fma(v166, v153, -0.0008548327023450852);
  double v170 = ht_fma(v168, v153, 0.005223977625442188);
  double v172 = ht_fma(v170, v153, -0.026866170645131252);
  double v174 = ht_fma(v172, v153, 0.11283791670955126);
  double v176 = ht_fma(v174, v153, -0.37612638903183754);
  double v178 = ht_fma(v176, v153, 0.1283791670955126);
  double v179 = (v2 - v152);
  double v180 = ht_fma(v2, v178, v179);
  double v181 = (1.0 - v152);
  double v182 = (v181 - v180);
  bool v184 = v145 < 0.52;
  double v185 = v149;
  if (v184) {
    v185 = v182;
  }
  double v186 = (0.5 * v185);
  double v187 = ht_fma(v0, v144, v186);
  double v188 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v190 = v188 < 40.0;
  bool v191 = v0 < 0.0;
  double v192 = v186;
  if (v191) {
    v192 = 0.0;
  }
  double v193 = v192;
  if (v190) {
    v193 = v187;
  }
  return v193;
}
// geluTanh64 returns gelu approximated by tanh.
HT_MATH double geluTanh64(double v0) {
  double v1 = (v0 * v0);
  double v3 = (v0 * 1.5957691216057308);
  double v6 = ht_fma(v1, 0.044715, 1.0);
  double v7 = (v3 * v6);
  double v10 = ht_double(ht_bits(v7) | ht_bits(ht_double(0x8000000000000000ull)));
  double v11 = v10;
  if (-746.0 > v10) {
    v11 = -746.0;
  }
  double v14 = ht_fma(v11, 1.4426950408889634, 6.755399441055744e+15);
  double v15 = (v14 - 6.755399441055744e+15);
  double v17 = ht_fma(-v15, 0.6931471803691238, v11);
  double v19 = (v15 * 1.9082149292705877e-10);
  double v20 = (v17 - v19);
  double v21 = (v17 - v20);
  double v22 = (v21 - v19);
  double v25 = ht_fma(1.6059043836821613e-10, v20, 2.08767569878681e-09);
  double v27 = ht_fma(v25, v20, 2.505210838544172e-08);
  double v29 = ht_fma(v27, v20, 2.755731922398589e-07);
  double v31 = ht_fma(v29, v20, 2.7557319223985893e-06);
  double v33 = ht_fma(v31, v20, 2.48015873015873e-05);
  double v35 = ht_fma(v33, v20, 0.0001984126984126984);
  double v37 = ht_fma(v35, v20, 0.001388888888888889);
  double v39 = ht_fma(v37, v20, 0.008333333333333333);
  double v41 = ht_fma(v39, v20, 0.041666666666666664);
  double v43 = ht_fma(v41, v20, 0.16666666666666666);
  double v45 = ht_fma(v43, v20, 0.5);
  double v46 = (v20 * v20);
  double v47 = ht_fma(v22, v20, v22);
  double v48 = ht_fma(v46, v45, v47);
  double v49 = (1.0 + v20);
  double v50 = (1.0 - v49);
  double v51 = (v50 + v20);
  double v52 = (v51 + v48);
  double v53 = (v49 + v52);
  double v54 = ht_fma(v15, 0.5, 6.755399441055744e+15);
  double v55 = (v54 - 6.755399441055744e+15);
  double v56 = (v15 - v55);
  double v57 = (v56 + 6.755399441055744e+15);
  double v58 = ht_double(ht_bits(v54) << 52);
  double v59 = ht_double(ht_bits(v58) + ht_bits(1.0));
  double v60 = (v53 * v59);
  double v61 = ht_double(ht_bits(v57) << 52);
  double v62 = ht_double(ht_bits(v61) + ht_bits(1.0));
  double v63 = (v60 * v62);
  double v64 = (v49 - v53);
  double v65 = (v64 + v52);
  double v66 = ht_fma(v15, 0.5, 6.755399441055744e+15);
  double v67 = (v66 - 6.755399441055744e+15);
  double v68 = (v15 - v67);
  double v69 = (v68 + 6.755399441055744e+15);
  double v70 = ht_double(ht_bits(v66) << 52);
  double v71 = ht_double(ht_bits(v70) + ht_bits(1.0));
  double v72 = (v65 * v71);
  double v73 = ht_double(ht_bits(v69) << 52);
  double v74 = ht_double(ht_bits(v73) + ht_bits(1.0));
  double v75 = (v72 * v74);
  double v76 = (1.0 + v63);
  double v77 = (1.0 - v76);
  double v78 = (v77 + v63);
  double v79 = (v78 + v75);
  bool v81 = v7 < 0.0;
  double v82 = (1.0);
  if (v81) {
    v82 = v63;
  }
  double v83 = (0.0);
  if (v81) {
    v83 = v75;
  }
  double v84 = (1.0 / v76);
  double v85 = (v82 * v84);
  double v86 = ht_fma(-v85, v76, v82);
  double v87 = (v86 + v83);
  double v88 = ht_fma(-v85, v79, v87);
  double v89 = (v88 * v84);
  double v90 = (v85 + v89);
  double v91 = (v0 * v90);
  return v91;
}
// geluTanh32 is geluTanh64 with the digits of a float32, for such an x.
HT_MATH double geluTanh32(double v0) {
  double v2 = (v0 * 1.5957691216057308);
  double v3 = (v0 * v0);
  double v6 = ht_fma(v3, 0.044715, 1.0);
  double v7 = (v2 * v6);
  bool v9 = -20.0 < v0;
  double v12 = v7;
  if (150.0 < v7) {
    v12 = 150.0;
  }
  double v13 = v12;
  if (-150.0 > v12) {
    v13 = -150.0;
  }
  double v15 = (ht_double(0x8000000000000000ull) - v13);
  double v18 = ht_fma(v15, 1.4426950408889634, 6.755399441055744e+15);
  double v19 = (v18 - 6.755399441055744e+15);
  double v21 = ht_fma(-v19, 0.6931471805599453, v15);
  double v24 = ht_fma(2.48015873015873e-05, v21, 0.0001984126984126984);
  double v26 = ht_fma(v24, v21, 0.001388888888888889);
  double v28 = ht_fma(v26, v21, 0.008333333333333333);
  double v30 = ht_fma(v28, v21, 0.041666666666666664);
  double v32 = ht_fma(v30, v21, 0.16666666666666666);
  double v34 = ht_fma(v32, v21, 0.5);
  double v35 = ht_fma(v34, v21, 1.0);
  double v36 = ht_fma(v35, v21, 1.0);
  double v37 = ht_double(ht_bits(v18) << 52);
  double v38 = ht_double(ht_bits(v36) + ht_bits(v37));
  double v39 = (1.0 + v38);
  double v40 = (1.0 / v39);
  double v42 = (0.0);
  if (v9) {
    v42 = v40;
  }
  double v43 = (v0 * v42);
  return v43;
}
// geluTanhSlope64 returns the derivative of geluTanh.
HT_MATH double geluTanhSlope64(double v0) {
  double v3 = v0;
  if (1e+100 < v0) {
    v3 = 1e+100;
  }
  double v4 = v3;
  if (-1e+100 > v3) {
    v4 = -1e+100;
  }
  double v5 = (v4 * v4);
  double v7 = (v4 * 1.5957691216057308);
  double v10 = ht_fma(v5, 0.044715, 1.0);
  double v11 = (v7 * v10);
  double v14 = ht_double(ht_bits(v11) | ht_bits(ht_double(0x8000000000000000ull)));
  double v15 = v14;
  if (-746.0 > v14) {
    v15 = -746.0;
  }
  double v18 = ht_fma(v15, 1.4426950408889634, 6.755399441055744e+15);
  double v19 = (v18 - 6.755399441055744e+15);
  double v21 = ht_fma(-v19, 0.6931471803691238, v15);
  double v23 = (v19 * 1.9082149292705877e-10);
  double v24 = (v21 - v23);
  double v25 = (v21 - v24);
  double v26 = (v25 - v23);
  double v29 = ht_fma(1.6059043836821613e-10, v24, 2.08767569878681e-09);
  double v31 = ht_fma(v29, v24, 2.505210838544172e-08);
  double v33 = ht_fma(v31, v24, 2.755731922398589e-07);
  double v35 = ht_fma(v33, v24, 2.7557319223985893e-06);
  double v37 = ht_fma(v35, v24, 2.48015873015873e-05);
  double v39 = ht_fma(v37, v24, 0.0001984126984126984);
  double v41 = ht_fma(v39, v24, 0.001388888888888889);
  double v43 = ht_fma(v41, v24, 0.008333333333333333);
  double v45 = ht_fma(v43, v24, 0.041666666666666664);
  double v47 = ht_fma(v45, v24, 0.16666666666666666);
  double v49 = ht_fma(v47, v24, 0.5);
  double v50 = (v24 * v24);
  double v51 = ht_fma(v26, v24, v26);
  double v52 = ht_fma(v50, v49, v51);
  double v53 = (1.0 + v24);
  double v54 = (1.0 - v53);
  double v55 = (v54 + v24);
  double v56 = (v55 + v52);
  double v57 = (v53 + v56);
  double v58 = ht_fma(v19, 0.5, 6.755399441055744e+15);
  double v59 = (v58 - 6.755399441055744e+15);
  double v60 = (v19 - v59);
  double v61 = (v60 + 6.755399441055744e+15);
  double v62 = ht_double(ht_bits(v58) << 52);
  double v63 = ht_double(ht_bits(v62) + ht_bits(1.0));
  double v64 = (v57 * v63);
  double v65 = ht_double(ht_bits(v61) << 52);
  double v66 = ht_double(ht_bits(v65) + ht_bits(1.0));
  double v67 = (v64 * v66);
  double v68 = (v53 - v57);
  double v69 = (v68 + v56);
  double v70 = ht_fma(v19, 0.5, 6.755399441055744e+15);
  double v71 = (v70 - 6.755399441055744e+15);
  double v72 = (v19 - v71);
  double v73 = (v72 + 6.755399441055744e+15);
  double v74 = ht_double(ht_bits(v70) << 52);
  double v75 = ht_double(ht_bits(v74) + ht_bits(1.0));
  double v76 = (v69 * v75);
  double v77 = ht_double(ht_bits(v73) << 52);
  double v78 = ht_double(ht_bits(v77) + ht_bits(1.0));
  double v79 = (v76 * v78);
  double v80 = (1.0 + v67);
  double v81 = (1.0 - v80);
  double v82 = (v81 + v67);
  double v83 = (v82 + v79);
  bool v85 = v11 < 0.0;
  double v86 = (1.0);
  if (v85) {
    v86 = v67;
  }
  double v87 = (0.0);
  if (v85) {
    v87 = v79;
  }
  double v88 = (1.0 / v80);
  double v89 = (v86 * v88);
  double v90 = ht_fma(-v89, v80, v86);
  double v91 = (v90 + v87);
  double v92 = ht_fma(-v89, v83, v91);
  double v93 = (v92 * v88);
  double v94 = (v89 + v93);
  double v96 = ht_fma(v5, 0.134145, 1.0);
  double v97 = (1.5957691216057308 * v96);
  double v98 = (1.0 - v94);
  double v99 = (v94 * v98);
  double v100 = v0;
  if (1e+100 < v0) {
    v100 = 1e+100;
  }
  double v101 = v100;
  if (-1e+100 > v100) {
    v101 = -1e+100;
  }
  double v102 = (v101 * v97);
  double v103 = (v99 * v102);
  double v104 = (v94 + v103);
  return v104;
}
// siluSlope64 returns the derivative of silu.
HT_MATH double siluSlope64(double v0) {
  double v4 = v0;
  if (1e+300 < v0) {
    v4 = 1e+300;
  }
  double v5 = v4;
  if (-1e+300 > v4) {
    v5 = -1e+300;
  }
  double v8 = ht_double(ht_bits(v5) | ht_bits(ht_double(0x8000000000000000ull)));
  double v9 = v8;
  if (-746.0 > v8) {
    v9 = -746.0;
  }
  double v12 = ht_fma(v9, 1.4426950408889634, 6.755399441055744e+15);
  double v13 = (v12 - 6.755399441055744e+15);
  double v15 = ht_fma(-v13, 0.6931471803691238, v9);
  double v17 = (v13 * 1.9082149292705877e-10);
  double v18 = (v15 - v17);
  double v19 = (v15 - v18);
  double v20 = (v19 - v17);
  double v23 = ht_fma(1.6059043836821613e-10, v18, 2.08767569878681e-09);
  double v25 = ht_fma(v23, v18, 2.505210838544172e-08);
  double v27 = ht_fma(v25, v18, 2.755731922398589e-07);
  double v29 = ht_fma(v27, v18, 2.7557319223985893e-06);
  double v31 = ht_fma(v29, v18, 2.48015873015873e-05);
  double v33 = ht_fma(v31, v18, 0.0001984126984126984);
  double v35 = ht_fma(v33, v18, 0.001388888888888889);
  double v37 = ht_fma(v35, v18, 0.008333333333333333);
  double v39 = ht_fma(v37, v18, 0.041666666666666664);
  double v41 = ht_fma(v39, v18, 0.16666666666666666);
  double v43 = ht_fma(v41, v18, 0.5);
  double v44 = (v18 * v18);
  double v45 = ht_fma(v20, v18, v20);
  double v46 = ht_fma(v44, v43, v45);
  double v47 = (1.0 + v18);
  double v48 = (1.0 - v47);
  double v49 = (v48 + v18);
  double v50 = (v49 + v46);
  double v51 = (v47 + v50);
  double v52 = ht_fma(v13, 0.5, 6.755399441055744e+15);
  double v53 = (v52 - 6.755399441055744e+15);
  double v54 = (v13 - v53);
  double v55 = (v54 + 6.755399441055744e+15);
  double v56 = ht_double(ht_bits(v52) << 52);
  double v57 = ht_double(ht_bits(v56) + ht_bits(1.0));
  double v58 = (v51 * v57);
  double v59 = ht_double(ht_bits(v55) << 52);
  double v60 = ht_double(ht_bits(v59) + ht_bits(1.0));
  double v61 = (v58 * v60);
  double v62 = (v47 - v51);
  double v63 = (v62 + v50);
  double v64 = ht_fma(v13, 0.5, 6.755399441055744e+15);
  double v65 = (v64 - 6.755399441055744e+15);
  double v66 = (v13 - v65);
  double v67 = (v66 + 6.755399441055744e+15);
  double v68 = ht_double(ht_bits(v64) << 52);
  double v69 = ht_double(ht_bits(v68) + ht_bits(1.0));
  double v70 = (v63 * v69);
  double v71 = ht_double(ht_bits(v67) << 52);
  double v72 = ht_double(ht_bits(v71) + ht_bits(1.0));
  double v73 = (v70 * v72);
  double v74 = (1.0 + v61);
  double v75 = (1.0 - v74);
  double v76 = (v75 + v61);
  double v77 = (v76 + v73);
  bool v79 = v5 < 0.0;
  double v80 = (1.0);
  if (v79) {
    v80 = v61;
  }
  double v81 = (0.0);
  if (v79) {
    v81 = v73;
  }
  double v82 = (1.0 / v74);
  double v83 = (v80 * v82);
  double v84 = ht_fma(-v83, v74, v80);
  double v85 = (v84 + v81);
  double v86 = ht_fma(-v83, v77, v85);
  double v87 = (v86 * v82);
  double v88 = (v83 + v87);
  double v89 = (1.0 - v88);
  double v90 = ht_fma(v5, v89, 1.0);
  double v91 = (v88 * v90);
  return v91;
}
// exp264 returns 2^x.
HT_MATH double exp264(double v0) {
  double v3 = v0;
  if (1030.0 < v0) {
    v3 = 1030.0;
  }
  double v4 = v3;
  if (-1080.0 > v3) {
    v4 = -1080.0;
  }
  double v6 = (v4 + 6.755399441055744e+15);
  double v7 = (v6 - 6.755399441055744e+15);
  double v8 = (v4 - v7);
  double v10 = (v8 * 0.6931471805599453);
  double v13 = (ht_double(0x8000000000000000ull) - v10);
  double v14 = ht_fma(v8, 0.6931471805599453, v13);
  double v15 = ht_fma(v8, 2.3190468138462996e-17, v14);
  double v19 = ht_fma(1.6059043836821613e-10, v10, 2.08767569878681e-09);
  double v21 = ht_fma(v19, v10, 2.505210838544172e-08);
  double v23 = ht_fma(v21, v10, 2.755731922398589e-07);
  double v25 = ht_fma(v23, v10, 2.7557319223985893e-06);
  double v27 = ht_fma(v25, v10, 2.48015873015873e-05);
  double v29 = ht_fma(v27, v10, 0.0001984126984126984);
  double v31 = ht_fma(v29, v10, 0.001388888888888889);
  double v33 = ht_fma(v31, v10, 0.008333333333333333);
  double v35 = ht_fma(v33, v10, 0.041666666666666664);
  double v37 = ht_fma(v35, v10, 0.16666666666666666);
  double v39 = ht_fma(v37, v10, 0.5);
  double v40 = (v10 * v10);
  double v41 = ht_fma(v15, v10, v15);
  double v42 = ht_fma(v40, v39, v41);
  double v43 = (v10 + v42);
  double v44 = (1.0 + v43);
  double v45 = ht_fma(v7, 0.5, 6.755399441055744e+15);
  double v46 = (v45 - 6.755399441055744e+15);
  double v47 = (v7 - v46);
  double v48 = (v47 + 6.755399441055744e+15);
  double v49 = ht_double(ht_bits(v45) << 52);
  double v50 = ht_double(ht_bits(v49) + ht_bits(1.0));
  double v51 = (v44 * v50);
  double v52 = ht_double(ht_bits(v48) << 52);
  double v53 = ht_double(ht_bits(v52) + ht_bits(1.0));
  double v54 = (v51 * v53);
  return v54;
}
// asinh64 returns the inverse hyperbolic sine of x.
HT_MATH double asinh64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v5 = v2;
  if (1.073741824e+09 < v2) {
    v5 = 1.073741824e+09;
  }
  double v6 = (v5 * v5);
  double v7 = (1.0 + v6);
  double v8 = ht_sqrt(v7);
  double v9 = (1.0 + v8);
  double v10 = (v6 / v9);
  double v11 = (v5 + v10);
  double v12 = (1.0 + v11);
  double v13 = (v12 - 1.0);
  double v14 = (v12 - v13);
  double v15 = (1.0 - v14);
  double v16 = (v11 - v13);
  double v17 = (v15 + v16);
  double v19 = ht_double(ht_bits(v12) + ht_bits(ht_double(0x95f619980c433ull)));
  double v20 = ht_double(ht_bits(v19) >> 52);
  double v21 = ht_double(ht_bits(v20) << 52);
  double v22 = ht_double(ht_bits(v12) - ht_bits(v21));
  double v23 = ht_double(ht_bits(v22) + ht_bits(1.0));
  double v25 = ht_double(ht_bits(v20) | ht_bits(4.503599627370496e+15));
  double v27 = (v25 - 4.503599627371519e+15);
  double v28 = (v17 / v12);
  double v29 = (v23 - 1.0);
  double v31 = (2.0 + v29);
  double v32 = (v29 / v31);
  double v33 = (v32 * v32);
  double v36 = ht_fma(0.14798198605116586, v33, 0.15313837699209373);
  double v38 = ht_fma(v36, v33, 0.1818357216161805);
  double v40 = ht_fma(v38, v33, 0.22222198432149784);
  double v42 = ht_fma(v40, v33, 0.2857142874366239);
  double v44 = ht_fma(v42, v33, 0.3999999999940942);
  double v46 = ht_fma(v44, v33, 0.6666666666666735);
  double v47 = (v33 * v46);
  double v49 = (0.5 * v29);
  double v50 = (v49 * v29);
  double v51 = (v50 + v47);
  double v53 = ht_fma(v27, 1.9082149292705877e-10, v28);
  double v54 = ht_fma(v32, v51, v53);
  double v56 = (v27 * 0.6931471803691238);
  double v57 = (v50 - v54);
  double v58 = (v57 - v29);
  double v59 = (v56 - v58);
  bool v61 = v12 < ht_double(0x7ff0000000000000ull);
  double v62 = v12;
  if (v61) {
    v62 = v59;
  }
  bool v64 = v12 < 0.0;
  double v66 = v62;
  if (v64) {
    v66 = ht_double(0x7ff8000000000001ull);
  }
  bool v67 = v12 == 0.0;
  double v69 = v66;
  if (v67) {
    v69 = ht_double(0xfff0000000000000ull);
  }
  double v70 = ht_double(ht_bits(v11) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v72 = v70 < 5.551115123125783e-17;
  double v73 = v69;
  if (v72) {
    v73 = v11;
  }
  bool v74 = v2 < 1.073741824e+09;
  double v75 = ht_double(ht_bits(v2) + ht_bits(ht_double(0x95f619980c433ull)));
  double v76 = ht_double(ht_bits(v75) >> 52);
  double v77 = ht_double(ht_bits(v76) << 52);
  double v78 = ht_double(ht_bits(v2) - ht_bits(v77));
  double v79 = ht_double(ht_bits(v78) + ht_bits(1.0));
  double v80 = ht_double(ht_bits(v76) | ht_bits(4.503599627370496e+15));
  double v81 = (v80 - 4.503599627371519e+15);
  double v82 = (v81 + 1.0);
  double v83 = (v79 - 1.0);
  double v84 = (2.0 + v83);
  double v85 = (v83 / v84);
  double v86 = (v85 * v85);
  double v87 = ht_fma(0.14798198605116586, v86, 0.15313837699209373);
  double v88 = ht_fma(v87, v86, 0.1818357216161805);
  double v89 = ht_fma(v88, v86, 0.22222198432149784);
  double v90 = ht_fma(v89, v86, 0.2857142874366239);
  double v91 = ht_fma(v90, v86, 0.3999999999940942);
  double v92 = ht_fma(v91, v86, 0.6666666666666735);
  double v93 = (v86 * v92);
  double v94 = (0.5 * v83);
  double v95 = (v94 * v83);
  double v96 = (v95 + v93);
  double v97 = ht_fma(v82, 1.9082149292705877e-10, 0.0);
  double v98 = ht_fma(v85, v96, v97);
  double v99 = (v82 * 0.6931471803691238);
  double v100 = (v95 - v98);
  double v101 = (v100 - v83);
  double v102 = (v99 - v101);
  bool v103 = v2 < ht_double(0x7ff0000000000000ull);
  double v104 = v2;
  if (v103) {
    v104 = v102;
  }
  bool v105 = v2 < 0.0;
  double v106 = v104;
  if (v105) {
    v106 = ht_double(0x7ff8000000000001ull);
  }
  bool v107 = v2 == 0.0;
  double v108 = v106;
  if (v107) {
    v108 = ht_double(0xfff0000000000000ull);
  }
  double v109 = v108;
  if (v74) {
    v109 = v73;
  }
  double v111 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x8000000000000000ull)));
  double v112 = ht_double(ht_bits(v109) | ht_bits(v111));
  double v113 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v114 = v113 < 5.551115123125783e-17;
  double v115 = v112;
  if (v114) {
    v115 = v0;
  }
  return v115;
}
// acosh64 returns the inverse hyperbolic cosine of x.
HT_MATH double acosh64(double v0) {
  double v2 = v0;
  if (1.073741824e+09 < v0) {
    v2 = 1.073741824e+09;
  }
  double v4 = (v2 - 1.0);
  double v5 = (v4 + v4);
  double v6 = ht_fma(v4, v4, v5);
  double v7 = ht_sqrt(v6);
  double v8 = (v4 + v7);
  double v9 = (1.0 + v8);
  double v10 = (v9 - 1.0);
  double v11 = (v9 - v10);
  double v12 = (1.0 - v11);
  double v13 = (v8 - v10);
  double v14 = (v12 + v13);
  double v16 = ht_double(ht_bits(v9) + ht_bits(ht_double(0x95f619980c433ull)));
  double v17 = ht_double(ht_bits(v16) >> 52);
  double v18 = ht_double(ht_bits(v17) << 52);
  double v19 = ht_double(ht_bits(v9) - ht_bits(v18));
  double v20 = ht_double(ht_bits(v19) + ht_bits(1.0));
  double v22 = ht_double(ht_bits(v17) | ht_bits(4.503599627370496e+15));
  double v24 = (v22 - 4.503599627371519e+15);
  double v25 = (v14 / v9);
  double v26 = (v20 - 1.0);
  double v28 = (2.0 + v26);
  double v29 = (v26 / v28);
  double v30 = (v29 * v29);
  double v33 = ht_fma(0.14798198605116586, v30, 0.15313837699209373);
  double v35 = ht_fma(v33, v30, 0.1818357216161805);
  double v37 = ht_fma(v35, v30, 0.22222198432149784);
  double v39 = ht_fma(v37, v30, 0.2857142874366239);
  double v41 = ht_fma(v39, v30, 0.3999999999940942);
  double v43 = ht_fma(v41, v30, 0.6666666666666735);
  double v44 = (v30 * v43);
  double v46 = (0.5 * v26);
  double v47 = (v46 * v26);
  double v48 = (v47 + v44);
  double v50 = ht_fma(v24, 1.9082149292705877e-10, v25);
  double v51 = ht_fma(v29, v48, v50);
  double v53 = (v24 * 0.6931471803691238);
  double v54 = (v47 - v51);
  double v55 = (v54 - v26);
  double v56 = (v53 - v55);
  bool v58 = v9 < ht_double(0x7ff0000000000000ull);
  double v59 = v9;
  if (v58) {
    v59 = v56;
  }
  bool v61 = v9 < 0.0;
  double v63 = v59;
  if (v61) {
    v63 = ht_double(0x7ff8000000000001ull);
  }
  bool v64 = v9 == 0.0;
  double v66 = v63;
  if (v64) {
    v66 = ht_double(0xfff0000000000000ull);
  }
  double v68 = ht_double(ht_bits(v8) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v70 = v68 < 5.551115123125783e-17;
  double v71 = v66;
  if (v70) {
    v71 = v8;
  }
  bool v72 = v0 < 1.0;
  double v74 = v71;
  if (v72) {
    v74 = ht_double(0x7ff8000000000000ull);
  }
  bool v75 = 1.073741824e+09 < v0;
  double v76 = ht_double(ht_bits(v0) + ht_bits(ht_double(0x95f619980c433ull)));
  double v77 = ht_double(ht_bits(v76) >> 52);
  double v78 = ht_double(ht_bits(v77) << 52);
  double v79 = ht_double(ht_bits(v0) - ht_bits(v78));
  double v80 = ht_double(ht_bits(v79) + ht_bits(1.0));
  double v81 = ht_double(ht_bits(v77) | ht_bits(4.503599627370496e+15));
  double v82 = (v81 - 4.503599627371519e+15);
  double v83 = (v82 + 1.0);
  double v84 = (v80 - 1.0);
  double v85 = (2.0 + v84);
  double v86 = (v84 / v85);
  double v87 = (v86 * v86);
  double v88 = ht_fma(0.14798198605116586, v87, 0.15313837699209373);
  double v89 = ht_fma(v88, v87, 0.1818357216161805);
  double v90 = ht_fma(v89, v87, 0.22222198432149784);
  double v91 = ht_fma(v90, v87, 0.2857142874366239);
  double v92 = ht_fma(v91, v87, 0.3999999999940942);
  double v93 = ht_fma(v92, v87, 0.6666666666666735);
  double v94 = (v87 * v93);
  double v95 = (0.5 * v84);
  double v96 = (v95 * v84);
  double v97 = (v96 + v94);
  double v98 = ht_fma(v83, 1.9082149292705877e-10, 0.0);
  double v99 = ht_fma(v86, v97, v98);
  double v100 = (v83 * 0.6931471803691238);
  double v101 = (v96 - v99);
  double v102 = (v101 - v84);
  double v103 = (v100 - v102);
  bool v104 = v0 < ht_double(0x7ff0000000000000ull);
  double v105 = v0;
  if (v104) {
    v105 = v103;
  }
  bool v106 = v0 < 0.0;
  double v107 = v105;
  if (v106) {
    v107 = ht_double(0x7ff8000000000001ull);
  }
  bool v108 = v0 == 0.0;
  double v109 = v107;
  if (v108) {
    v109 = ht_double(0xfff0000000000000ull);
  }
  double v110 = v74;
  if (v75) {
    v110 = v109;
  }
  return v110;
}
// atanh64 returns the inverse hyperbolic tangent of x.
HT_MATH double atanh64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v4 = (v2 + v2);
  double v6 = (1.0 - v2);
  double v7 = (v4 / v6);
  double v8 = (1.0 + v7);
  double v9 = (v8 - 1.0);
  double v10 = (v8 - v9);
  double v11 = (1.0 - v10);
  double v12 = (v7 - v9);
  double v13 = (v11 + v12);
  double v15 = ht_double(ht_bits(v8) + ht_bits(ht_double(0x95f619980c433ull)));
  double v16 = ht_double(ht_bits(v15) >> 52);
  double v17 = ht_double(ht_bits(v16) << 52);
  double v18 = ht_double(ht_bits(v8) - ht_bits(v17));
  double v19 = ht_double(ht_bits(v18) + ht_bits(1.0));
  double v21 = ht_double(ht_bits(v16) | ht_bits(4.503599627370496e+15));
  double v23 = (v21 - 4.503599627371519e+15);
  double v24 = (v13 / v8);
  double v25 = (v19 - 1.0);
  double v27 = (2.0 + v25);
  double v28 = (v25 / v27);
  double v29 = (v28 * v28);
  double v32 = ht_fma(0.14798198605116586, v29, 0.15313837699209373);
  double v34 = ht_fma(v32, v29, 0.1818357216161805);
  double v36 = ht_fma(v34, v29, 0.22222198432149784);
  double v38 = ht_fma(v36, v29, 0.2857142874366239);
  double v40 = ht_fma(v38, v29, 0.3999999999940942);
  double v42 = ht_fma(v40, v29, 0.6666666666666735);
  double v43 = (v29 * v42);
  double v44 = (0.5 * v25);
  double v45 = (v44 * v25);
  double v46 = (v45 + v43);
  double v48 = ht_fma(v23, 1.9082149292705877e-10, v24);
  double v49 = ht_fma(v28, v46, v48);
  double v51 = (v23 * 0.6931471803691238);
  double v52 = (v45 - v49);
  double v53 = (v52 - v25);
  double v54 = (v51 - v53);
  bool v56 = v8 < ht_double(0x7ff0000000000000ull);
  double v57 = v8;
  if (v56) {
    v57 = v54;
  }
  bool v59 = v8 < 0.0;
  double v61 = v57;
  if (v59) {
    v61 = ht_double(0x7ff8000000000001ull);
  }
  bool v62 = v8 == 0.0;
  double v64 = v61;
  if (v62) {
    v64 = ht_double(0xfff0000000000000ull);
  }
  double v65 = ht_double(ht_bits(v7) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v67 = v65 < 5.551115123125783e-17;
  double v68 = v64;
  if (v67) {
    v68 = v7;
  }
  double v69 = (0.5 * v68);
  double v71 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x8000000000000000ull)));
  double v72 = ht_double(ht_bits(v69) | ht_bits(v71));
  double v73 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v74 = v73 < 5.551115123125783e-17;
  double v75 = v72;
  if (v74) {
    v75 = v0;
  }
  return v75;
}
// sin64 returns the sine of x for |x| ≤ 2²⁰.
HT_MATH double sin64(double v0) {
  double v3 = ht_fma(v0, 0.6366197723675814, 6.755399441055744e+15);
  double v4 = (v3 - 6.755399441055744e+15);
  double v6 = ht_fma(-v4, 1.5707963267341256, v0);
  double v8 = (v4 * 6.077100506303966e-11);
  double v9 = (v6 - v8);
  double v10 = (v9 - v6);
  double v11 = (v9 - v10);
  double v12 = (v6 - v11);
  double v13 = (v8 + v10);
  double v14 = (v12 - v13);
  double v16 = ht_fma(-v4, 2.0222662487959506e-21, v14);
  double v17 = (v9 + v16);
  double v18 = (v9 - v17);
  double v19 = (v18 + v16);
  double v20 = (v17 * v17);
  double v23 = (v20 * 0.5);
  double v24 = (1.0 - v23);
  double v25 = (v17 * v20);
  double v28 = ht_fma(2.8114572543455206e-15, v20, -7.647163731819816e-13);
  double v30 = ht_fma(v28, v20, 1.6059043836821613e-10);
  double v32 = ht_fma(v30, v20, -2.505210838544172e-08);
  double v34 = ht_fma(v32, v20, 2.7557319223985893e-06);
  double v36 = ht_fma(v34, v20, -0.0001984126984126984);
  double v38 = ht_fma(v36, v20, 0.008333333333333333);
  double v40 = ht_fma(v38, v20, -0.16666666666666666);
  double v41 = (v19 * v24);
  double v42 = ht_fma(v25, v40, v41);
  double v43 = (v20 * v20);
  double v46 = ht_fma(4.779477332387385e-14, v20, -1.1470745597729725e-11);
  double v48 = ht_fma(v46, v20, 2.08767569878681e-09);
  double v50 = ht_fma(v48, v20, -2.755731922398589e-07);
  double v52 = ht_fma(v50, v20, 2.48015873015873e-05);
  double v54 = ht_fma(v52, v20, -0.001388888888888889);
  double v56 = ht_fma(v54, v20, 0.041666666666666664);
  double v57 = (v43 * v56);
  double v58 = (1.0 - v24);
  double v59 = (v58 - v23);
  double v60 = ht_fma(-v17, v19, v57);
  double v61 = (v59 + v60);
  double v63 = ht_double(ht_bits(v3) + ht_bits(0.0));
  double v64 = ht_double(ht_bits(v63) << 62);
  double v66 = ht_double(ht_bits(v64) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v67 = 1.0 < v66;
  double v68 = (v24 + v61);
  double v69 = (v17 + v42);
  double v70 = v69;
  if (v67) {
    v70 = v68;
  }
  double v72 = ht_double(ht_bits(v64) & ht_bits(ht_double(0x8000000000000000ull)));
  double v73 = ht_double(ht_bits(v72) | ht_bits(1.0));
  double v74 = (v70 * v73);
  double v75 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v77 = v75 < 5.551115123125783e-17;
  double v78 = v74;
  if (v77) {
    v78 = v0;
  }
  return v78;
}
// cos64 returns the cosine of x for |x| ≤ 2²⁰.
HT_MATH double cos64(double v0) {
  double v3 = ht_fma(v0, 0.6366197723675814, 6.755399441055744e+15);
  double v4 = (v3 - 6.755399441055744e+15);
  double v6 = ht_fma(-v4, 1.5707963267341256, v0);
  double v8 = (v4 * 6.077100506303966e-11);
  double v9 = (v6 - v8);
  double v10 = (v9 - v6);
  double v11 = (v9 - v10);
  double v12 = (v6 - v11);
  double v13 = (v8 + v10);
  double v14 = (v12 - v13);
  double v16 = ht_fma(-v4, 2.0222662487959506e-21, v14);
  double v17 = (v9 + v16);
  double v18 = (v9 - v17);
  double v19 = (v18 + v16);
  double v20 = (v17 * v17);
  double v23 = (v20 * 0.5);
  double v24 = (1.0 - v23);
  double v25 = (v17 * v20);
  double v28 = ht_fma(2.8114572543455206e-15, v20, -7.647163731819816e-13);
  double v30 = ht_fma(v28, v20, 1.6059043836821613e-10);
  double v32 = ht_fma(v30, v20, -2.505210838544172e-08);
  double v34 = ht_fma(v32, v20, 2.7557319223985893e-06);
  double v36 = ht_fma(v34, v20, -0.0001984126984126984);
  double v38 = ht_fma(v36, v20, 0.008333333333333333);
  double v40 = ht_fma(v38, v20, -0.16666666666666666);
  double v41 = (v19 * v24);
  double v42 = ht_fma(v25, v40, v41);
  double v43 = (v20 * v20);
  double v46 = ht_fma(4.779477332387385e-14, v20, -1.1470745597729725e-11);
  double v48 = ht_fma(v46, v20, 2.08767569878681e-09);
  double v50 = ht_fma(v48, v20, -2.755731922398589e-07);
  double v52 = ht_fma(v50, v20, 2.48015873015873e-05);
  double v54 = ht_fma(v52, v20, -0.001388888888888889);
  double v56 = ht_fma(v54, v20, 0.041666666666666664);
  double v57 = (v43 * v56);
  double v58 = (1.0 - v24);
  double v59 = (v58 - v23);
  double v60 = ht_fma(-v17, v19, v57);
  double v61 = (v59 + v60);
  double v63 = ht_double(ht_bits(v3) + ht_bits(ht_double(0x1ull)));
  double v64 = ht_double(ht_bits(v63) << 62);
  double v66 = ht_double(ht_bits(v64) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v67 = 1.0 < v66;
  double v68 = (v24 + v61);
  double v69 = (v17 + v42);
  double v70 = v69;
  if (v67) {
    v70 = v68;
  }
  double v72 = ht_double(ht_bits(v64) & ht_bits(ht_double(0x8000000000000000ull)));
  double v73 = ht_double(ht_bits(v72) | ht_bits(1.0));
  double v74 = (v70 * v73);
  return v74;
}
// tan64 returns the tangent of x for |x| ≤ 2²⁰.
HT_MATH double tan64(double v0) {
  double v3 = ht_fma(v0, 0.6366197723675814, 6.755399441055744e+15);
  double v4 = (v3 - 6.755399441055744e+15);
  double v6 = ht_fma(-v4, 1.5707963267341256, v0);
  double v8 = (v4 * 6.077100506303966e-11);
  double v9 = (v6 - v8);
  double v10 = (v9 - v6);
  double v11 = (v9 - v10);
  double v12 = (v6 - v11);
  double v13 = (v8 + v10);
  double v14 = (v12 - v13);
  double v16 = ht_fma(-v4, 2.0222662487959506e-21, v14);
  double v17 = (v9 + v16);
  double v18 = (v9 - v17);
  double v19 = (v18 + v16);
  double v20 = (v17 * v17);
  double v23 = (v20 * 0.5);
  double v24 = (1.0 - v23);
  double v25 = (v17 * v20);
  double v28 = ht_fma(2.8114572543455206e-15, v20, -7.647163731819816e-13);
  double v30 = ht_fma(v28, v20, 1.6059043836821613e-10);
  double v32 = ht_fma(v30, v20, -2.505210838544172e-08);
  double v34 = ht_fma(v32, v20, 2.7557319223985893e-06);
  double v36 = ht_fma(v34, v20, -0.0001984126984126984);
  double v38 = ht_fma(v36, v20, 0.008333333333333333);
  double v40 = ht_fma(v38, v20, -0.16666666666666666);
  double v41 = (v19 * v24);
  double v42 = ht_fma(v25, v40, v41);
  double v43 = (v20 * v20);
  double v46 = ht_fma(4.779477332387385e-14, v20, -1.1470745597729725e-11);
  double v48 = ht_fma(v46, v20, 2.08767569878681e-09);
  double v50 = ht_fma(v48, v20, -2.755731922398589e-07);
  double v52 = ht_fma(v50, v20, 2.48015873015873e-05);
  double v54 = ht_fma(v52, v20, -0.001388888888888889);
  double v56 = ht_fma(v54, v20, 0.041666666666666664);
  double v57 = (v43 * v56);
  double v58 = (1.0 - v24);
  double v59 = (v58 - v23);
  double v60 = ht_fma(-v17, v19, v57);
  double v61 = (v59 + v60);
  double v62 = ht_double(ht_bits(v3) << 62);
  double v64 = ht_double(ht_bits(v62) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v65 = 1.0 < v64;
  double v66 = (v17 + v42);
  double v67 = (v66 - v17);
  double v68 = (v66 - v67);
  double v69 = (v17 - v68);
  double v70 = (v42 - v67);
  double v71 = (v69 + v70);
  double v72 = (v24 + v61);
  double v73 = (v72 - v24);
  double v74 = (v72 - v73);
  double v75 = (v24 - v74);
  double v76 = (v61 - v73);
  double v77 = (v75 + v76);
  double v79 = (ht_double(0x8000000000000000ull) - v72);
  double v80 = v66;
  if (v65) {
    v80 = v79;
  }
  double v81 = (ht_double(0x8000000000000000ull) - v77);
  double v82 = v71;
  if (v65) {
    v82 = v81;
  }
  double v83 = v72;
  if (v65) {
    v83 = v66;
  }
  double v84 = v77;
  if (v65) {
    v84 = v71;
  }
  double v85 = (1.0 / v83);
  double v86 = (v80 * v85);
  double v87 = ht_fma(-v86, v83, v80);
  double v88 = (v87 + v82);
  double v89 = ht_fma(-v86, v84, v88);
  double v90 = (v89 * v85);
  double v91 = (v86 + v90);
  double v92 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v94 = v92 < 5.551115123125783e-17;
  double v95 = v91;
  if (v94) {
    v95 = v0;
  }
  return v95;
}
// asin64 returns the inverse sine of x.
HT_MATH double asin64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v4 = (v2 * v2);
  double v6 = (ht_double(0x8000000000000000ull) - v4);
  double v7 = ht_fma(v2, v2, v6);
  double v8 = (1.0 - v4);
  double v9 = (1.0 - v8);
  double v10 = (v9 - v4);
  double v11 = (v10 - v7);
  double v12 = ht_sqrt(v8);
  double v13 = ht_fma(-v12, v12, v8);
  double v14 = (v13 + v11);
  double v16 = (v12 + v12);
  double v17 = v16;
  if (ht_double(0x170000000000000ull) > v16) {
    v17 = ht_double(0x170000000000000ull);
  }
  double v18 = (v14 / v17);
  double v19 = (1.0 + v12);
  double v20 = (v19 - 1.0);
  double v21 = (v19 - v20);
  double v22 = (1.0 - v21);
  double v23 = (v12 - v20);
  double v24 = (v22 + v23);
  double v26 = (v24 + v18);
  double v28 = (v19 * 0.41421356237309503);
  bool v29 = v28 < v2;
  double v30 = (v2 * 0.41421356237309503);
  bool v31 = v19 < v30;
  double v32 = (ht_double(0x8000000000000000ull) - v19);
  double v33 = (v2 + v32);
  double v34 = (v33 - v2);
  double v35 = (v33 - v34);
  double v36 = (v2 - v35);
  double v37 = (v32 - v34);
  double v38 = (v36 + v37);
  double v39 = (v2 + v19);
  double v40 = (v39 - v2);
  double v41 = (v39 - v40);
  double v42 = (v2 - v41);
  double v43 = (v19 - v40);
  double v44 = (v42 + v43);
  double v45 = (0.0 - v26);
  double v46 = (v38 + v45);
  double v47 = (0.0 + v26);
  double v48 = (v44 + v47);
  double v51 = (0.0);
  if (v29) {
    v51 = 0.7853981633974483;
  }
  double v52 = v51;
  if (v31) {
    v52 = 1.5707963267948966;
  }
  double v55 = (0.0);
  if (v29) {
    v55 = 3.061616997868383e-17;
  }
  double v56 = v55;
  if (v31) {
    v56 = 6.123233995736766e-17;
  }
  double v57 = (ht_double(0x8000000000000000ull) - v19);
  double v58 = v2;
  if (v29) {
    v58 = v33;
  }
  double v59 = v58;
  if (v31) {
    v59 = v57;
  }
  double v60 = (ht_double(0x8000000000000000ull) - v26);
  double v61 = (0.0);
  if (v29) {
    v61 = v46;
  }
  double v62 = v61;
  if (v31) {
    v62 = v60;
  }
  double v63 = v19;
  if (v29) {
    v63 = v39;
  }
  double v64 = v63;
  if (v31) {
    v64 = v2;
  }
  double v65 = v26;
  if (v29) {
    v65 = v48;
  }
  double v66 = v65;
  if (v31) {
    v66 = 0.0;
  }
  double v67 = (1.0 / v64);
  double v68 = (v59 * v67);
  double v69 = ht_fma(-v68, v64, v59);
  double v70 = (v69 + v62);
  double v71 = ht_fma(-v68, v66, v70);
  double v72 = (v71 * v67);
  double v73 = (v68 * v68);
  double v74 = (v68 * v73);
  double v77 = ht_fma(-0.023255813953488372, v73, 0.024390243902439025);
  double v79 = ht_fma(v77, v73, -0.02564102564102564);
  double v81 = ht_fma(v79, v73, 0.02702702702702703);
  double v83 = ht_fma(v81, v73, -0.02857142857142857);
  double v85 = ht_fma(v83, v73, 0.030303030303030304);
  double v87 = ht_fma(v85, v73, -0.03225806451612903);
  double v89 = ht_fma(v87, v73, 0.034482758620689655);
  double v91 = ht_fma(v89, v73, -0.037037037037037035);
  double v93 = ht_fma(v91, v73, 0.04);
  double v95 = ht_fma(v93, v73, -0.043478260869565216);
  double v97 = ht_fma(v95, v73, 0.047619047619047616);
  double v99 = ht_fma(v97, v73, -0.05263157894736842);
  double v101 = ht_fma(v99, v73, 0.058823529411764705);
  double v103 = ht_fma(v101, v73, -0.06666666666666667);
  double v105 = ht_fma(v103, v73, 0.07692307692307693);
  double v107 = ht_fma(v105, v73, -0.09090909090909091);
  double v109 = ht_fma(v107, v73, 0.1111111111111111);
  double v111 = ht_fma(v109, v73, -0.14285714285714285);
  double v113 = ht_fma(v111, v73, 0.2);
  double v115 = ht_fma(v113, v73, -0.3333333333333333);
  double v116 = (v72 + v56);
  double v117 = ht_fma(v74, v115, v116);
  double v118 = (v52 + v68);
  double v119 = (v52 - v118);
  double v120 = (v119 + v68);
  double v121 = (v120 + v117);
  double v122 = (v118 + v121);
  double v124 = (v122 * 2.0);
  double v125 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x8000000000000000ull)));
  double v126 = ht_double(ht_bits(v124) | ht_bits(v125));
  double v127 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v129 = v127 < 5.551115123125783e-17;
  double v130 = v126;
  if (v129) {
    v130 = v0;
  }
  return v130;
}
// acos64 returns the inverse cosine of x.
HT_MATH double acos64(double v0) {
  double v2 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v5 = (ht_double(0x8000000000000000ull) - v2);
  double v6 = (1.0 + v5);
  double v7 = (v6 - 1.0);
  double v8 = (v6 - v7);
  double v9 = (1.0 - v8);
  double v10 = (v5 - v7);
  double v11 = (v9 + v10);
  double v12 = ht_sqrt(v6);
  double v13 = ht_fma(-v12, v12, v6);
  double v14 = (v13 + v11);
  double v16 = (v12 + v12);
  double v17 = v16;
  if (ht_double(0x170000000000000ull) > v16) {
    v17 = ht_double(0x170000000000000ull);
  }
  double v18 = (v14 / v17);
  double v19 = (1.0 + v2);
  double v20 = (v19 - 1.0);
  double v21 = (v19 - v20);
  double v22 = (1.0 - v21);
  double v23 = (v2 - v20);
  double v24 = (v22 + v23);
  double v25 = ht_sqrt(v19);
  double v26 = ht_fma(-v25, v25, v19);
  double v27 = (v26 + v24);
  double v28 = (v25 + v25);
  double v29 = v28;
  if (ht_double(0x170000000000000ull) > v28) {
    v29 = ht_double(0x170000000000000ull);
  }
  double v30 = (v27 / v29);
  double v32 = (v25 * 0.41421356237309503);
  bool v33 = v32 < v12;
  double v34 = (v12 * 0.41421356237309503);
  bool v35 = v25 < v34;
  double v36 = (ht_double(0x8000000000000000ull) - v25);
  double v37 = (v12 + v36);
  double v38 = (v37 - v12);
  double v39 = (v37 - v38);
  double v40 = (v12 - v39);
  double v41 = (v36 - v38);
  double v42 = (v40 + v41);
  double v43 = (v12 + v25);
  double v44 = (v43 - v12);
  double v45 = (v43 - v44);
  double v46 = (v12 - v45);
  double v47 = (v25 - v44);
  double v48 = (v46 + v47);
  double v49 = (v18 - v30);
  double v50 = (v42 + v49);
  double v51 = (v18 + v30);
  double v52 = (v48 + v51);
  double v56 = (0.0);
  if (v33) {
    v56 = 0.7853981633974483;
  }
  double v57 = v56;
  if (v35) {
    v57 = 1.5707963267948966;
  }
  double v60 = (0.0);
  if (v33) {
    v60 = 3.061616997868383e-17;
  }
  double v61 = v60;
  if (v35) {
    v61 = 6.123233995736766e-17;
  }
  double v62 = (ht_double(0x8000000000000000ull) - v25);
  double v63 = v12;
  if (v33) {
    v63 = v37;
  }
  double v64 = v63;
  if (v35) {
    v64 = v62;
  }
  double v65 = (ht_double(0x8000000000000000ull) - v30);
  double v66 = v18;
  if (v33) {
    v66 = v50;
  }
  double v67 = v66;
  if (v35) {
    v67 = v65;
  }
  double v68 = v25;
  if (v33) {
    v68 = v43;
  }
  double v69 = v68;
  if (v35) {
    v69 = v12;
  }
  double v70 = v30;
  if (v33) {
    v70 = v52;
  }
  double v71 = v70;
  if (v35) {
    v71 = v18;
  }
  double v72 = (1.0 / v69);
  double v73 = (v64 * v72);
  double v74 = ht_fma(-v73, v69, v64);
  double v75 = (v74 + v67);
  double v76 = ht_fma(-v73, v71, v75);
  double v77 = (v76 * v72);
  double v78 = (v73 * v73);
  double v79 = (v73 * v78);
  double v82 = ht_fma(-0.023255813953488372, v78, 0.024390243902439025);
  double v84 = ht_fma(v82, v78, -0.02564102564102564);
  double v86 = ht_fma(v84, v78, 0.02702702702702703);
  double v88 = ht_fma(v86, v78, -0.02857142857142857);
  double v90 = ht_fma(v88, v78, 0.030303030303030304);
  double v92 = ht_fma(v90, v78, -0.03225806451612903);
  double v94 = ht_fma(v92, v78, 0.034482758620689655);
  double v96 = ht_fma(v94, v78, -0.037037037037037035);
  double v98 = ht_fma(v96, v78, 0.04);
  double v100 = ht_fma(v98, v78, -0.043478260869565216);
  double v102 = ht_fma(v100, v78, 0.047619047619047616);
  double v104 = ht_fma(v102, v78, -0.05263157894736842);
  double v106 = ht_fma(v104, v78, 0.058823529411764705);
  double v108 = ht_fma(v106, v78, -0.06666666666666667);
  double v110 = ht_fma(v108, v78, 0.07692307692307693);
  double v112 = ht_fma(v110, v78, -0.09090909090909091);
  double v114 = ht_fma(v112, v78, 0.1111111111111111);
  double v116 = ht_fma(v114, v78, -0.14285714285714285);
  double v118 = ht_fma(v116, v78, 0.2);
  double v120 = ht_fma(v118, v78, -0.3333333333333333);
  double v121 = (v77 + v61);
  double v122 = ht_fma(v79, v120, v121);
  double v123 = (v57 + v73);
  double v124 = (v57 - v123);
  double v125 = (v124 + v73);
  double v126 = (v125 + v122);
  double v128 = (v123 * 2.0);
  double v129 = (v126 * 2.0);
  double v131 = (3.141592653589793 - v128);
  double v132 = (3.141592653589793 - v131);
  double v133 = (v132 - v128);
  double v135 = (1.2246467991473532e-16 - v129);
  double v136 = (v133 + v135);
  bool v137 = v0 < 0.0;
  double v138 = (v131 + v136);
  double v139 = (v128 + v129);
  double v140 = v139;
  if (v137) {
    v140 = v138;
  }
  return v140;
}
// atan64 returns the inverse tangent of x.
HT_MATH double atan64(double v0) {
  double v3 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v4 = v3;
  if (1e+300 < v3) {
    v4 = 1e+300;
  }
  double v8 = (1.0 * 0.41421356237309503);
  bool v9 = v8 < v4;
  double v10 = (v4 * 0.41421356237309503);
  bool v11 = 1.0 < v10;
  double v13 = (ht_double(0x8000000000000000ull) - 1.0);
  double v14 = (v4 + v13);
  double v15 = (v14 - v4);
  double v16 = (v14 - v15);
  double v17 = (v4 - v16);
  double v18 = (v13 - v15);
  double v19 = (v17 + v18);
  double v20 = (v4 + 1.0);
  double v21 = (v20 - v4);
  double v22 = (v20 - v21);
  double v23 = (v4 - v22);
  double v24 = (1.0 - v21);
  double v25 = (v23 + v24);
  double v26 = (0.0 - 0.0);
  double v27 = (v19 + v26);
  double v28 = (0.0 + 0.0);
  double v29 = (v25 + v28);
  double v32 = (0.0);
  if (v9) {
    v32 = 0.7853981633974483;
  }
  double v33 = v32;
  if (v11) {
    v33 = 1.5707963267948966;
  }
  double v36 = (0.0);
  if (v9) {
    v36 = 3.061616997868383e-17;
  }
  double v37 = v36;
  if (v11) {
    v37 = 6.123233995736766e-17;
  }
  double v38 = (ht_double(0x8000000000000000ull) - 1.0);
  double v39 = v4;
  if (v9) {
    v39 = v14;
  }
  double v40 = v39;
  if (v11) {
    v40 = v38;
  }
  double v41 = (ht_double(0x8000000000000000ull) - 0.0);
  double v42 = (0.0);
  if (v9) {
    v42 = v27;
  }
  double v43 = v42;
  if (v11) {
    v43 = v41;
  }
  double v44 = (1.0);
  if (v9) {
    v44 = v20;
  }
  double v45 = v44;
  if (v11) {
    v45 = v4;
  }
  double v46 = (0.0);
  if (v9) {
    v46 = v29;
  }
  double v47 = v46;
  if (v11) {
    v47 = 0.0;
  }
  double v48 = (1.0 / v45);
  double v49 = (v40 * v48);
  double v50 = ht_fma(-v49, v45, v40);
  double v51 = (v50 + v43);
  double v52 = ht_fma(-v49, v47, v51);
  double v53 = (v52 * v48);
  double v54 = (v49 * v49);
  double v55 = (v49 * v54);
  double v58 = ht_fma(-0.023255813953488372, v54, 0.024390243902439025);
  double v60 = ht_fma(v58, v54, -0.02564102564102564);
  double v62 = ht_fma(v60, v54, 0.02702702702702703);
  double v64 = ht_fma(v62, v54, -0.02857142857142857);
  double v66 = ht_fma(v64, v54, 0.030303030303030304);
  double v68 = ht_fma(v66, v54, -0.03225806451612903);
  double v70 = ht_fma(v68, v54, 0.034482758620689655);
  double v72 = ht_fma(v70, v54, -0.037037037037037035);
  double v74 = ht_fma(v72, v54, 0.04);
  double v76 = ht_fma(v74, v54, -0.043478260869565216);
  double v78 = ht_fma(v76, v54, 0.047619047619047616);
  double v80 = ht_fma(v78, v54, -0.05263157894736842);
  double v82 = ht_fma(v80, v54, 0.058823529411764705);
  double v84 = ht_fma(v82, v54, -0.06666666666666667);
  double v86 = ht_fma(v84, v54, 0.07692307692307693);
  double v88 = ht_fma(v86, v54, -0.09090909090909091);
  double v90 = ht_fma(v88, v54, 0.1111111111111111);
  double v92 = ht_fma(v90, v54, -0.14285714285714285);
  double v94 = ht_fma(v92, v54, 0.2);
  double v96 = ht_fma(v94, v54, -0.3333333333333333);
  double v97 = (v53 + v37);
  double v98 = ht_fma(v55, v96, v97);
  double v99 = (v33 + v49);
  double v100 = (v33 - v99);
  double v101 = (v100 + v49);
  double v102 = (v101 + v98);
  double v103 = (v99 + v102);
  double v104 = ht_double(ht_bits(v103) & ht_bits(ht_double(0x7fffffffffffffffull)));
  double v105 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x8000000000000000ull)));
  double v106 = ht_double(ht_bits(v104) | ht_bits(v105));
  double v107 = ht_double(ht_bits(v0) & ht_bits(ht_double(0x7fffffffffffffffull)));
  bool v109 = v107 < 5.551115123125783e-17;
  double v110 = v106;
  if (v109) {
    v110 = v0;
  }
  return v110;
}
// power64 returns x^y with the digits of a float32, for such numbers, NaN unless x is positive and finite.
HT_MATH double power64(double v0, double v1) {
  double v3 = ht_double(ht_bits(v0) + ht_bits(ht_double(0x95f619980c433ull)));
  double v4 = ht_double(ht_bits(v3) >> 52);
  double v5 = ht_double(ht_bits(v4) << 52);
  double v6 = ht_double(ht_bits(v0) - ht_bits(v5));
  double v8 = ht_double(ht_bits(v6) + ht_bits(1.0));
  double v10 = ht_double(ht_bits(v4) | ht_bits(4.503599627370496e+15));
  double v12 = (v10 - 4.503599627371519e+15);
  double v13 = (v8 - 1.0);
  double v15 = (2.0 + v13);
  double v16 = (v13 / v15);
  double v17 = (v16 * v16);
  double v18 = (v16 * v17);
  double v21 = ht_fma(0.13333333333333333, v17, 0.15384615384615385);
  double v23 = ht_fma(v21, v17, 0.18181818181818182);
  double v25 = ht_fma(v23, v17, 0.2222222222222222);
  double v27 = ht_fma(v25, v17, 0.2857142857142857);
  double v29 = ht_fma(v27, v17, 0.4);
  double v31 = ht_fma(v29, v17, 0.6666666666666666);
  double v32 = (v16 + v16);
  double v33 = ht_fma(v18, v31, v32);
  double v35 = ht_fma(v12, 0.6931471805599453, v33);
  double v36 = (v1 * v35);
  double v39 = v36;
  if (89.0 < v36) {
    v39 = 89.0;
  }
  double v40 = v39;
  if (-105.0 > v39) {
    v40 = -105.0;
  }
  double v43 = ht_fma(v40, 1.4426950408889634, 6.755399441055744e+15);
  double v44 = (v43 - 6.755399441055744e+15);
  double v45 = ht_fma(-v44, 0.6931471805599453, v40);
  double v48 = ht_fma(2.755731922398589e-07, v45, 2.7557319223985893e-06);
  double v50 = ht_fma(v48, v45, 2.48015873015873e-05);
  double v52 = ht_fma(v50, v45, 0.0001984126984126984);
  double v54 = ht_fma(v52, v45, 0.001388888888888889);
  double v56 = ht_fma(v54, v45, 0.008333333333333333);
  double v58 = ht_fma(v56, v45, 0.041666666666666664);
  double v60 = ht_fma(v58, v45, 0.16666666666666666);
  double v62 = ht_fma(v60, v45, 0.5);
  double v63 = ht_fma(v62, v45, 1.0);
  double v64 = ht_fma(v63, v45, 1.0);
  double v65 = ht_double(ht_bits(v43) << 52);
  double v66 = ht_double(ht_bits(v64) + ht_bits(v65));
  bool v68 = 0.0 < v0;
  double v70 = (ht_double(0x7ff8000000000000ull));
  if (v68) {
    v70 = v66;
  }
  bool v72 = v0 < ht_double(0x7ff0000000000000ull);
  double v73 = (ht_double(0x7ff8000000000000ull));
  if (v72) {
    v73 = v70;
  }
  return v73;
}
