// Common part of all kernels: the chunk table and 64-bit arithmetic.
//
// All arithmetic on values is done in integers: WGSL lets drivers round, contract and flush f32 freely,
// but the bytes must match the CPU's.

struct Chunk {
    first: u32,             // offset of its first value in the array of all chunks
    count: u32,             // values
    first_unit: u32,        // offset of its first unit among those of all chunks
    units: u32,
    nx: u32,                // lags
    plane: u32,
    lags: u32,              // bit 0: lag 1, bit 1: lag nx, bit 2: lag plane
    step: u32,              // the step is step · 2^step_exponent, of 9 bits
    step_exponent: i32,
    base: i32,              // lattice point of coordinate 0
    limit: u32,             // largest error, as bits of an f32
    inverse_low: u32,       // 1 / step is inverse · 2^inverse_exponent
    inverse_high: u32,
    inverse_exponent: i32,
    rounded_to: u32,        // precision of quotients in bits: 24 or 53
    fills: u32,             // number of fill values
    body: u32,              // offset of its body in words, and length
    body_words: u32,
    mode: u32,              // first word of the header: mode and lags
    step_low: u32,          // step and base as f64, for the header
    step_high: u32,
    base_low: u32,
    base_high: u32,
    segments: u32,          // decoding: 256-value segments per plane, and the first one of the chunk
    first_segment: u32,
    planes: u32,            // decoding: number of planes summed up
    fill: array<u32, 8>,
}

const UNIT = 256u;
const SLOT = 128u;              // words of the longest unit
const HEADER = 24u;             // bytes of a body before the codes
const MOST = 32766;             // largest coordinate
const BAD = 0x10000u;           // no coordinate
const UNRESOLVED = 0x40000000u; // marks of a unit: depends on an exception; has one itself
const EXCEPTIONS = 0x80000000u;

var<private> p: Chunk;

fn code_of(mark: u32) -> u32 { return mark & 0xffu; }
fn length_of(mark: u32) -> u32 { return (mark >> 8u) & 0x3ffu; }

// 64-bit numbers are (low, high).

fn shift_right(v: vec2<u32>, s: u32) -> vec2<u32> {
    if (s == 0u) { return v; }
    if (s >= 32u) { return vec2<u32>(v.y >> min(s - 32u, 31u), 0u); }
    return vec2<u32>((v.x >> s) | (v.y << (32u - s)), v.y >> s);
}

// v / 2^s, ties to even; v is below 2^55.
fn round_off(v: vec2<u32>, s: u32) -> vec2<u32> {
    if (s == 0u) { return v; }
    if (s > 56u) { return vec2<u32>(0u); }
    let whole = shift_right(v, s);
    let below = s - 1u;
    let half = shift_right(v, below).x & 1u;
    var rest = v.x;
    if (below < 32u) {
        rest &= (1u << below) - 1u;
    } else {
        rest |= v.y & ((1u << (below - 32u)) - 1u);
    }
    let up = half & select(whole.x & 1u, 1u, rest != 0u);
    let low = whole.x + up;
    return vec2<u32>(low, whole.y + select(0u, 1u, low < up));
}

fn multiply(a: u32, b: u32) -> vec2<u32> {
    let a0 = a & 0xffffu; let a1 = a >> 16u;
    let b0 = b & 0xffffu; let b1 = b >> 16u;
    let p00 = a0 * b0; let p01 = a0 * b1; let p10 = a1 * b0;
    let middle = (p00 >> 16u) + (p01 & 0xffffu) + (p10 & 0xffffu);
    let high = a1 * b1 + (p01 >> 16u) + (p10 >> 16u) + (middle >> 16u);
    return vec2<u32>((middle << 16u) | (p00 & 0xffffu), high);
}

// Bits of |k| · step as an f32, rounded to nearest, ties to even; |k| is below 2^23.
fn point(k: u32) -> u32 {
    let product = k * p.step;
    if (product == 0u) { return 0u; }
    let top = 31u - countLeadingZeros(product);
    var mantissa = product << (23u - min(top, 23u));
    if (top > 23u) { mantissa = round_off(vec2<u32>(product, 0u), top - 23u).x; }
    let exponent = i32(top) + p.step_exponent + 127;
    if (exponent >= 255) { return 0x7f800000u; }
    // A mantissa rounded up to 2^24 moves on to the next exponent.
    return (u32(exponent) << 23u) + (mantissa - 0x800000u);
}
