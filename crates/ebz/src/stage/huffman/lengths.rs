//! Code lengths from frequencies: sort, merge, limit.

/// How symbols are sorted by frequency before the tree is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// By frequency.
    Exact,
    /// Algorithm 1 of the CEAZ paper: outwards from the most frequent symbol, comparing only the
    /// two neighbours at the same distance. In zigzag order these are symbols 2k − 1 and 2k.
    Centre,
}

/// Code lengths of a complete prefix code, at most `longest`: 0 for symbols that do not occur, but at
/// least two symbols have a code.
pub(super) fn lengths(counts: &[u32], sort: Sort, longest: u32) -> Vec<u8> {
    let mut order = ascending(counts, sort);
    // A complete code has at least two codes.
    for symbol in 0..2u16 {
        if order.len() < 2 && !order.contains(&symbol) {
            order.insert(0, symbol);
        }
    }
    let mut weights: Vec<_> = order
        .iter()
        .map(|&s| counts.get(usize::from(s)).map_or(0, |&c| u64::from(c)))
        .collect();
    let depths = limited(&mut weights, longest);
    let mut lengths = vec![0; counts.len().max(2)];
    for (&symbol, &depth) in order.iter().zip(&depths) {
        lengths[usize::from(symbol)] = depth;
    }
    lengths
}

/// The depths of a tree of limited depth: raises the weights of rare symbols until the limit holds.
fn limited(weights: &mut [u64], longest: u32) -> Vec<u8> {
    let total: u64 = weights.iter().sum();
    // Long codes do not pay for short sequences: they enlarge the table.
    let longest = (u64::BITS - total.leading_zeros() + 1).min(longest) as u8;
    let mut depths = merge(weights);
    let mut least = (total >> (longest + 1)).max(1);
    while depths.iter().any(|&d| d > longest) {
        for weight in weights.iter_mut() {
            *weight = (*weight).max(least);
        }
        depths = merge(weights);
        least += least.div_ceil(4);
    }
    depths
}

/// The symbols that occur, rarest first.
fn ascending(counts: &[u32], sort: Sort) -> Vec<u16> {
    let occurs = |s: &u16| counts.get(usize::from(*s)).is_some_and(|&c| c > 0);
    match sort {
        Sort::Exact => {
            let mut order: Vec<_> = (0..counts.len() as u16).filter(occurs).collect();
            order.sort_by_key(|&s| (counts[usize::from(s)], s));
            order
        }
        Sort::Centre => {
            let mut order = Vec::with_capacity(counts.len());
            for near in (1..counts.len()).step_by(2).rev() {
                let far = near + 1;
                let pair = [near as u16, far as u16];
                match counts.get(far) {
                    Some(&c) if c <= counts[near] => order.extend([pair[1], pair[0]]),
                    Some(_) => order.extend(pair),
                    None => order.push(pair[0]),
                }
            }
            order.push(0);
            order.retain(occurs);
            order
        }
    }
}

/// Builds a Huffman tree with two queues, leaves in the given order and inner nodes in order of
/// creation; returns the depth of each leaf. Any order gives a valid tree, ascending weights an
/// optimal one.
fn merge(weights: &[u64]) -> Vec<u8> {
    let leaves = weights.len();
    let mut weight = weights.to_vec();
    let mut parent = vec![0usize; 2 * leaves - 1];
    let (mut leaf, mut inner) = (0, leaves);
    for node in leaves..2 * leaves - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            let take_leaf = leaf < leaves && (inner == node || weight[leaf] <= weight[inner]);
            let child = if take_leaf { &mut leaf } else { &mut inner };
            parent[*child] = node;
            sum += weight[*child];
            *child += 1;
        }
        weight.push(sum);
    }
    // From the root down: every node has a larger index than its children.
    let mut depth = vec![0u8; 2 * leaves - 1];
    for node in (0..2 * leaves - 2).rev() {
        depth[node] = depth[parent[node]].saturating_add(1);
    }
    depth.truncate(leaves);
    depth
}
