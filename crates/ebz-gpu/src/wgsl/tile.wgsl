// Tiles of 2,048 codes: 32 rows of 32 words of two codes. After the shuffle, word y of plane i holds bit i
// of the words of row y; a plane is 8 blocks of 4 words.

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read_write> marks: array<u32>;
@group(0) @binding(3) var<storage, read_write> slots: array<u32>;
@group(0) @binding(6) var<storage, read_write> bodies: array<u32>;
@group(0) @binding(7) var<storage, read_write> tiles: array<u32>;

const TILE = 1024u;         // words
const TILE_UNITS = 8u;
const FLAGS = 8u;           // words of flags

var<workgroup> plane: array<u32, 1056>; // padded to 33 words to avoid bank conflicts between columns
var<workgroup> flags: array<atomic<u32>, 8>;

fn tiles_of(chunk: u32) -> u32 { return (chunks[chunk].units + TILE_UNITS - 1u) / TILE_UNITS; }

// Offset of the shuffled tiles of a chunk: each chunk has room for one partial tile.
fn first_tile(chunk: u32) -> u32 { return (chunks[chunk].first_unit + TILE_UNITS - 1u) / TILE_UNITS + chunk; }

// Shuffles the bits of a tile, four words per thread: row y of `plane` is plane y.
fn shuffle(l: u32, chunk: u32, tile: u32) {
    let left = min(TILE, (chunks[chunk].units - tile * TILE_UNITS) * SLOT);
    let from_word = (chunks[chunk].first_unit + tile * TILE_UNITS) * SLOT;
    for (var w = l; w < TILE; w += 256u) {
        var word = 0u;
        if (w < left) { word = slots[from_word + w]; }
        plane[(w >> 5u) * 33u + (w & 31u)] = word;
    }
    workgroupBarrier();
    // Four of the 1,024 output words per thread: bit i of the 32 words of row y.
    var out: array<u32, 4>;
    let y = l >> 3u;
    for (var n = 0u; n < 4u; n++) {
        let bit = (l & 7u) * 4u + n;
        var word = 0u;
        for (var x = 0u; x < 32u; x++) { word |= ((plane[y * 33u + x] >> bit) & 1u) << x; }
        out[n] = word;
    }
    workgroupBarrier();
    for (var n = 0u; n < 4u; n++) { plane[((l & 7u) * 4u + n) * 33u + y] = out[n]; }
    workgroupBarrier();
}

// Marks the non-zero blocks: flags go to the body, their number to the mark of the tile's first unit.
fn mark(l: u32, chunk: u32, tile: u32) {
    if (l < FLAGS) { atomicStore(&flags[l], 0u); }
    workgroupBarrier();
    let word = (l >> 3u) * 33u + (l & 7u) * 4u;
    if ((plane[word] | plane[word + 1u] | plane[word + 2u] | plane[word + 3u]) != 0u) {
        atomicOr(&flags[l >> 5u], 1u << (l & 31u));
    }
    workgroupBarrier();
    if (l < FLAGS) {
        bodies[chunks[chunk].body + HEADER / 4u + tile * FLAGS + l] = atomicLoad(&flags[l]);
    }
    if (l == 0u) {
        var blocks = 0u;
        for (var i = 0u; i < FLAGS; i++) { blocks += countOneBits(atomicLoad(&flags[i])); }
        let at = chunks[chunk].first_unit + tile * TILE_UNITS;
        marks[at] = (marks[at] & EXCEPTIONS) | (blocks << 8u);
    }
}

// Loads and stores shuffled words.
fn store(l: u32, chunk: u32, tile: u32) {
    let to = (first_tile(chunk) + tile) * TILE;
    for (var w = l; w < TILE; w += 256u) { tiles[to + w] = plane[(w >> 5u) * 33u + (w & 31u)]; }
}

fn load(l: u32, chunk: u32, tile: u32) {
    let at = (first_tile(chunk) + tile) * TILE;
    for (var w = l; w < TILE; w += 256u) { plane[(w >> 5u) * 33u + (w & 31u)] = tiles[at + w]; }
    workgroupBarrier();
}
