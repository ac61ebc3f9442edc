use super::*;
use crate::simd::Level;

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Two-sided geometric-like symbols: the smaller, the more frequent.
    fn symbols(&mut self, count: usize, spread: u64) -> Vec<u8> {
        let mut symbol = || {
            let scale = self.next() % 8;
            let width = (spread >> scale).clamp(1, ALPHABET as u64);
            (self.next() % width) as u8
        };
        (0..count).map(|_| symbol()).collect()
    }
}

/// A naive decoder: bit by bit, searching the book.
fn naive_decode(stream: &[u8], book: &Book, count: usize) -> Vec<usize> {
    let codes = book.codes();
    let mut bit = 0;
    let mut symbol = || {
        let (mut word, mut length) = (0u32, 0);
        loop {
            word |= u32::from(stream[bit / 8] >> (bit % 8) & 1) << length;
            bit += 1;
            length += 1;
            if let Some(s) = codes
                .iter()
                .position(|&c| c == word | length << book::LENGTH_AT)
            {
                return s;
            }
        }
    };
    (0..count).map(|_| symbol()).collect()
}

fn round_trip(symbols: &[u8], histogram: &Histogram, sort: Sort) {
    let book = Book::of(histogram, sort);
    let mut stored = Vec::new();
    book.write_to(&mut stored);
    let mut rest = stored.as_slice();
    assert_eq!(Book::read_from(&mut rest).unwrap(), book);
    assert!(rest.is_empty());

    let table = Table::of(&book, symbols.len());
    let mut streams: Vec<Vec<u8>> = Vec::new();
    for simd in Level::available() {
        let mut coded = Vec::new();
        encode(symbols, &book, simd, &mut Vec::new(), &mut coded);
        streams.push(coded);
    }
    for coded in &streams {
        assert_eq!(coded, &streams[0]);
        for simd in Level::available() {
            let mut decoded = vec![0; symbols.len()];
            let mut rest = coded.as_slice();
            decode(&mut rest, &table, simd, &mut decoded).unwrap();
            assert!(rest.is_empty());
            assert!(decoded == symbols);
        }
    }
}

#[test]
fn symbols_round_trip_at_every_level() {
    let mut random = Random(7);
    for count in [0, 1, 2, 3, 4, 5, 63, 64, 65, 1000, 30_000] {
        for spread in [1, 2, 3, 40, 300, 5000] {
            for sort in [Sort::Exact, Sort::Centre] {
                let symbols = random.symbols(count, spread);
                round_trip(&symbols, &Histogram::of(&symbols), sort);
            }
        }
    }
}

#[test]
fn estimated_histograms_have_every_symbol_and_cost_little() {
    let mut random = Random(9);
    for spread in [1, 20, 40, 300] {
        let mut symbols = random.symbols(100_000, spread);
        // At positions that are not sampled.
        for (at, symbol) in [(2000, 255), (3000, 31), (5_500, 100)] {
            symbols[at] = symbol;
        }
        let exact = Histogram::of(&symbols);
        for simd in Level::available() {
            let estimate = Histogram::estimate(&symbols, simd);
            assert_eq!(estimate, Histogram::estimate(&symbols, Level::Portable));
            let mut both = estimate.counts().iter().zip(exact.counts());
            assert!(both.all(|(&estimate, &count)| estimate > 0 || count == 0));
            round_trip(&symbols, &estimate, Sort::Exact);
            let cost = |h: &Histogram| Book::of(h, Sort::Exact).cost(exact.counts()).unwrap();
            assert!(
                cost(&estimate) <= cost(&exact) + cost(&exact) / 50,
                "{spread}"
            );
        }
    }
}

#[test]
fn streams_match_the_codes_of_the_book() {
    let symbols = Random(3).symbols(401, 900);
    let book = Book::of(&Histogram::of(&symbols), Sort::Exact);
    let mut coded = Vec::new();
    encode(
        &symbols,
        &book,
        Level::Portable,
        &mut Vec::new(),
        &mut coded,
    );
    let mut rest = coded.as_slice();
    let sizes: Vec<_> = (0..streams_for(symbols.len()))
        .map(|_| crate::bits::varint::read_length(&mut rest).unwrap())
        .collect();
    let mut expected = symbols.as_slice();
    for (size, count) in sizes.into_iter().zip(segments(symbols.len())) {
        let decoded = naive_decode(&rest[..size], &book, count);
        let (segment, tail) = expected.split_at(count);
        assert!(
            decoded
                .iter()
                .zip(segment)
                .all(|(&d, s)| d == usize::from(*s))
        );
        rest = &rest[size..];
        expected = tail;
    }
}

#[test]
fn lengths_are_limited_and_complete() {
    // Fibonacci frequencies make the deepest tree.
    let mut counts = vec![0u32; ALPHABET];
    let (mut a, mut b) = (1u32, 1u32);
    for slot in counts.iter_mut().take(40) {
        *slot = a;
        (a, b) = (b, a + b);
    }
    for (i, slot) in counts.iter_mut().enumerate().skip(40) {
        *slot = 1 + (i as u32 % 3);
    }
    for sort in [Sort::Exact, Sort::Centre] {
        let book = Book::of(&Histogram::from_counts(counts.clone()).unwrap(), sort);
        let sum: u32 = book.lengths().iter().map(|&l| 1 << (12 - l)).sum();
        assert!(book.lengths().iter().all(|&l| (1..=12).contains(&l)));
        assert_eq!(sum, 1 << 12);
    }
}

/// The optimal cost without a length limit, by the textbook algorithm.
fn optimal_cost(counts: &[u32]) -> u64 {
    use std::cmp::Reverse;
    let occurring = counts.iter().filter(|&&c| c > 0);
    let mut heap: std::collections::BinaryHeap<_> =
        occurring.map(|&c| Reverse(u64::from(c))).collect();
    let mut cost = 0;
    while let (Some(Reverse(a)), Some(Reverse(b))) = (heap.pop(), heap.pop()) {
        cost += a + b;
        heap.push(Reverse(a + b));
        if heap.len() == 1 {
            break;
        }
    }
    cost
}

#[test]
fn exact_sort_is_optimal_and_centre_sort_close() {
    // Frequencies that decrease from the centre on both sides, with some noise.
    let mut random = Random(11);
    let symbols: Vec<u8> = (0..200_000)
        .map(|_| {
            let sum: u64 = (0..12).map(|_| random.next() % 20).sum();
            let d = sum as i64 - 114;
            ((d << 1) ^ (d >> 63)).min(255) as u8
        })
        .collect();
    let histogram = Histogram::of(&symbols);
    let exact = Book::of(&histogram, Sort::Exact)
        .cost(histogram.counts())
        .unwrap();
    let centre = Book::of(&histogram, Sort::Centre)
        .cost(histogram.counts())
        .unwrap();
    let best = optimal_cost(histogram.counts());
    assert!(exact as f64 <= best as f64 * 1.002, "{exact} {best}");
    assert!(exact <= centre);
    assert!(centre as f64 <= exact as f64 * 1.005, "{centre} {exact}");
}

#[test]
fn arbitrary_bytes_never_panic() {
    let mut random = Random(5);
    for _ in 0..3000 {
        let length = (random.next() % 200) as usize;
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        if let Ok(book) = Book::read_from(&mut bytes.as_slice()) {
            let _ = Table::of(&book, 10_000);
        }
    }
    let symbols = random.symbols(3000, 200);
    let book = Book::of(&Histogram::of(&symbols), Sort::Exact);
    let table = Table::of(&book, symbols.len());
    let mut coded = Vec::new();
    encode(
        &symbols,
        &book,
        Level::Portable,
        &mut Vec::new(),
        &mut coded,
    );
    for simd in Level::available() {
        let mut out = vec![0; symbols.len()];
        for cut in 0..coded.len() {
            assert!(decode(&mut &coded[..cut], &table, simd, &mut out).is_err());
        }
        for _ in 0..2000 {
            let mut broken = coded.clone();
            let at = (random.next() as usize) % broken.len();
            broken[at] ^= 1 << (random.next() % 8);
            let _ = decode(&mut broken.as_slice(), &table, simd, &mut out);
        }
    }
}

#[test]
fn tables_without_a_book_are_rejected() {
    // Short and long: decoded one by one and in bulk.
    for count in [3, 20_000] {
        let mut coded = vec![0x55; 4 * count];
        coded[..2].copy_from_slice(&[0xff, 0x01]);
        let mut symbols = vec![7; count];
        for simd in Level::available() {
            let mut rest = coded.as_slice();
            let decoded = decode(&mut rest, &Table::default(), simd, &mut symbols);
            assert!(decoded.is_err(), "{count} symbols");
        }
    }
}
