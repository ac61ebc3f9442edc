// Quantizes values to lattice coordinates, each checked against the bound.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> values: array<u32>;

fn mantissa_of(magnitude: u32) -> u32 {
    return (magnitude & 0x7fffffu) | select(0u, 0x800000u, magnitude >= 0x800000u);
}

fn exponent_of(magnitude: u32) -> i32 { return max(i32(magnitude >> 23u), 1); }

// |x| / step as an integer: a product rounded to the precision of the CPU's arithmetic, then to an
// integer, ties to even both times. At least 2^23 if out of reach.
fn quotient(mantissa: u32, exponent: i32) -> u32 {
    var e = exponent - 150 + p.inverse_exponent;
    var m: vec2<u32>;
    let low = multiply(mantissa, p.inverse_low);
    if (p.rounded_to == 24u) {
        let top = select(31 - i32(countLeadingZeros(low.x)), 63 - i32(countLeadingZeros(low.y)), low.y != 0u);
        let s = max(top - 23, 0);
        m = round_off(low, u32(s));
        e += s;
    } else {
        // 24 times 53 bits. The quotient loses at most 24 bits, all in the lowest word.
        let high = multiply(mantissa, p.inverse_high);
        let middle = low.y + high.x;
        let upper = high.y + select(0u, 1u, middle < low.y);
        let top = select(63 - i32(countLeadingZeros(middle)), 95 - i32(countLeadingZeros(upper)), upper != 0u);
        let s = u32(max(top - 52, 0));
        m = vec2<u32>(low.x, middle);
        if (s > 0u) {
            m = vec2<u32>((low.x >> s) | (middle << (32u - s)), (middle >> s) | (upper << (32u - s)));
            let half = (low.x >> (s - 1u)) & 1u;
            let rest = low.x & ((1u << (s - 1u)) - 1u);
            let up = half & select(m.x & 1u, 1u, rest != 0u);
            m.x += up;
            m.y += select(0u, 1u, m.x < up);
            e += i32(s);
        }
    }
    if ((m.x | m.y) == 0u) { return 0u; }
    if (e >= 0) { return 0x800000u; }
    let k = round_off(m, u32(-e));
    return select(min(k.x, 0x800000u), 0x800000u, k.y != 0u);
}

// Whether two finite magnitudes, within a factor of 2 or one of them 0, differ by at most the bound.
fn is_within(a: u32, b: u32) -> bool {
    let ea = exponent_of(a); let eb = exponent_of(b);
    if (a == 0u || b == 0u) { return max(a, b) <= p.limit; }
    if (abs(ea - eb) > 1) { return false; }
    let e = min(ea, eb);
    let ma = mantissa_of(a) << u32(ea - e); let mb = mantissa_of(b) << u32(eb - e);
    let difference = max(ma, mb) - min(ma, mb);
    let limit = mantissa_of(p.limit);
    let shift = e - exponent_of(p.limit);
    if (shift >= 0) { return difference <= (limit >> u32(min(shift, 31))); }
    return shift < -3 || difference <= (limit << u32(min(-shift, 3)));
}

// Equality of floating-point numbers: 0 equals -0.
fn is_equal(a: u32, b: u32) -> bool { return a == b || ((a | b) << 1u) == 0u; }

// The low 16 bits of the coordinate of a value, or BAD.
fn quantize(x: u32) -> u32 {
    let magnitude = x & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) { return BAD; }
    let k = quotient(mantissa_of(magnitude), exponent_of(magnitude));
    let sign = x & 0x80000000u;
    let q = select(i32(k), -i32(k), sign != 0u) - p.base;
    if (k >= 0x800000u || abs(q) > MOST) { return BAD; }
    let decoded = point(k);
    if (decoded >= 0x7f800000u || !is_within(magnitude, decoded)) { return BAD; }
    for (var i = 0u; i < p.fills; i++) {
        if (is_equal(x, p.fill[i]) || is_equal(decoded | sign, p.fill[i])) { return BAD; }
    }
    return u32(q) & 0xffffu;
}

// Coordinate at an index of the chunk: 0 before its start; its last value is repeated after its end.
fn number_at(i: i32) -> u32 {
    if (i < 0) { return 0u; }
    return quantize(values[p.first + min(u32(i), p.count - 1u)]);
}

// The distance of the n-th of the four windows whose differences are the residual; -1 if unused.
fn window_back(n: u32) -> i32 {
    if (((n << 1u) & p.lags) != (n << 1u)) { return -1; }
    return i32(select(0u, p.nx, (n & 1u) != 0u) + select(0u, p.plane, (n & 2u) != 0u));
}

fn window_sign(n: u32) -> u32 { return select(1u, 0xffffffffu, n == 1u || n == 2u); }

fn zigzag(residual: u32) -> u32 {
    return ((residual << 1u) ^ select(0u, 0xffffu, (residual & 0x8000u) != 0u)) & 0xffffu;
}
