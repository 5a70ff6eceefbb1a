/* $about */
#ifndef $guard
#define $guard

#include <float.h>

/* What the bits rest on, as far as the language lets it be checked. */
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "fast-math changes results: compile without it"
#endif
#if defined(__ASSOCIATIVE_MATH__) || defined(__NO_SIGNED_ZEROS__) || defined(__RECIPROCAL_MATH__)
#error "this option changes results: compile without it"
#endif
#if FLT_EVAL_METHOD != 0
#error "floats must be computed as floats (on 32-bit x86: -msse2 -mfpmath=sse)"
#endif
#if FLT_RADIX != 2 || FLT_MANT_DIG != 24 || FLT_MIN_EXP != -125 || FLT_MAX_EXP != 128
#error "float must be the binary32 of IEC 60559"
#endif
#if DBL_MANT_DIG != 53 || DBL_MIN_EXP != -1021 || DBL_MAX_EXP != 1024
#error "double must be the binary64 of IEC 60559"
#endif
/* Products are statements of their own, so a compiler that contracts within expressions contracts none. gcc outside
   ISO modes contracts across statements, wherever the machine has the instructions for it. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__STRICT_ANSI__) && !defined(SONNX_NO_CONTRACTION)
#if defined(__FP_FAST_FMAF) || defined(__FP_FAST_FMA)
#error "gcc contracts products with sums here: give -std=c99, or both -ffp-contract=off and -DSONNX_NO_CONTRACTION"
#endif
#endif
/* An array of a negative size does not compile. */
typedef char ${prefix}_check_float[sizeof(float) == 4 ? 1 : -1];
typedef char ${prefix}_check_double[sizeof(double) == 8 ? 1 : -1];

#endif
