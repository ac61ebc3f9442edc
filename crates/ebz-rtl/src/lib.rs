//! Simulations of the hardware cores in `rtl/`.
//!
//! Every core has an input and an output of 128-bit flits with a valid/ready handshake, so that one
//! function simulates them all: [`simulate`].

pub mod fields;
pub mod fre;
pub mod zfp;

use std::ffi::{CString, c_char, c_int};

/// 128 bits; byte 0 is the least significant and the first in memory.
pub type Flit = [u32; 4];

/// Conditions of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Conditions {
    /// Percentage of cycles without valid input; the bus then carries garbage.
    pub stall_input: u32,
    /// Percentage of cycles in which the output is not ready.
    pub stall_output: u32,
    /// Seed of stalls, garbage and initial register values.
    pub seed: u64,
    /// Number of cycles to record.
    pub trace: usize,
}

impl Conditions {
    /// No stalls.
    pub const SMOOTH: Self = Self {
        stall_input: 0,
        stall_output: 0,
        seed: 1,
        trace: 0,
    };
}

/// The ports in one cycle.
#[derive(Debug, Clone, Copy)]
pub struct Cycle {
    /// Valid and ready of the input.
    pub input: [bool; 2],
    /// Valid and ready of the output.
    pub output: [bool; 2],
    /// The output flit is the last of its chunk.
    pub last: bool,
    /// Input data.
    pub input_data: Flit,
    /// Output data.
    pub output_data: Flit,
}

/// Result of a simulation.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The flits of each chunk.
    pub chunks: Vec<Vec<Flit>>,
    /// Cycles from the end of reset to the last output flit.
    pub cycles: u64,
    /// Cycles to the first output flit.
    pub latency: u64,
    /// The recorded cycles.
    pub trace: Vec<Cycle>,
}

#[repr(C)]
struct Request {
    input: *const u32,
    input_flits: usize,
    output: *mut u32,
    output_flits: usize,
    ends: *mut usize,
    chunks: usize,
    stall_input: u32,
    stall_output: u32,
    seed: u64,
    most_cycles: u64,
    trace: *mut u32,
    trace_cycles: usize,
}

#[repr(C)]
#[derive(Default)]
struct Outcome {
    taken: usize,
    given: usize,
    chunks: usize,
    cycles: u64,
    first_output: u64,
    broken: u32,
}

/// Maximum number of cycles per input or output flit of any core, without stalls.
const MAX_CYCLES_PER_FLIT: u64 = 40;

/// Trace words per cycle, as in `harness.h`.
const TRACE_WORDS: usize = 9;

unsafe extern "C" {
    fn simulate_core(core: *const c_char, request: *const Request, outcome: *mut Outcome) -> bool;
    fn choose_mutant(number: c_int);
}

/// Simulates a core until it has output as many chunks as it got, of at most `room` flits in total.
/// An error says how the core violated the handshake, or that it took too long.
pub fn simulate(
    core: &str,
    chunks: &[Vec<Flit>],
    room: usize,
    conditions: Conditions,
) -> Result<Simulated, String> {
    let input: Vec<Flit> = chunks.concat();
    let mut output = vec![[0; 4]; room];
    let mut ends = vec![0; chunks.len()];
    let mut trace = vec![0u32; TRACE_WORDS * conditions.trace];
    let stalls = (100 - conditions.stall_input.min(99)) * (100 - conditions.stall_output.min(99));
    let request = Request {
        input: input.as_ptr().cast(),
        input_flits: input.len(),
        output: output.as_mut_ptr().cast(),
        output_flits: room,
        ends: ends.as_mut_ptr(),
        chunks: chunks.len(),
        stall_input: conditions.stall_input,
        stall_output: conditions.stall_output,
        seed: conditions.seed,
        most_cycles: MAX_CYCLES_PER_FLIT * 10_000 / u64::from(stalls)
            * (input.len() + room + 10) as u64,
        trace: trace.as_mut_ptr(),
        trace_cycles: conditions.trace,
    };
    let mut outcome = Outcome::default();
    let name = CString::new(core).map_err(|error| error.to_string())?;
    // SAFETY: the memory of the request has the sizes given in it and outlives the call; the name ends with 0.
    if !unsafe { simulate_core(name.as_ptr(), &request, &mut outcome) } {
        return Err(format!("unknown core {core}"));
    }
    if outcome.broken != 0 {
        return Err(format!(
            "{core} violates the handshake: {} output flits",
            outcome.given
        ));
    }
    if outcome.chunks != chunks.len() || outcome.taken != input.len() {
        return Err(format!(
            "{core} hangs: {} of {} input flits, {} of {} output chunks",
            outcome.taken,
            input.len(),
            outcome.chunks,
            chunks.len()
        ));
    }
    let mut start = 0;
    let chunks = ends
        .into_iter()
        .map(|end| output[std::mem::replace(&mut start, end)..end].to_vec())
        .collect();
    let recorded = conditions.trace.min(outcome.cycles as usize);
    Ok(Simulated {
        chunks,
        cycles: outcome.cycles,
        latency: outcome.first_output,
        trace: trace.as_chunks().0[..recorded].iter().map(cycle).collect(),
    })
}

fn cycle(words: &[u32; TRACE_WORDS]) -> Cycle {
    let flag = |bit: u32| words[0] >> bit & 1 == 1;
    Cycle {
        input: [flag(0), flag(1)],
        output: [flag(2), flag(3)],
        last: flag(4),
        input_data: std::array::from_fn(|i| words[1 + i]),
        output_data: std::array::from_fn(|i| words[5 + i]),
    }
}

/// Enables one of the mutations that `scripts/rtl_mutants.py` generated; 0 is none.
pub fn set_mutant(number: i32) {
    // SAFETY: only sets an integer.
    unsafe { choose_mutant(number) }
}

/// Words as flits, padded with zeros.
pub fn flits(words: &[u32]) -> Vec<Flit> {
    let flit = |words: &[u32]| std::array::from_fn(|i| words.get(i).copied().unwrap_or(0));
    words.chunks(4).map(flit).collect()
}

/// Bytes as flits, padded with zeros.
pub fn byte_flits(bytes: &[u8]) -> Vec<Flit> {
    let word = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u32::from(byte))
    };
    flits(&bytes.chunks(4).map(word).collect::<Vec<_>>())
}

/// Simulates a core and compares its output with the expected one.
fn check(
    core: &str,
    chunks: &[Vec<Flit>],
    expected: &[Vec<Flit>],
    conditions: Conditions,
) -> Result<Simulated, String> {
    let room = expected.iter().map(Vec::len).sum::<usize>() + 16;
    let simulated = simulate(core, chunks, room, conditions)?;
    compare(core, &simulated.chunks, expected)?;
    Ok(simulated)
}

/// An error with the first difference between two lists of chunks.
fn compare(what: &str, given: &[Vec<Flit>], expected: &[Vec<Flit>]) -> Result<(), String> {
    for (chunk, (given, expected)) in given.iter().zip(expected).enumerate() {
        if given != expected {
            let at = given
                .iter()
                .zip(expected)
                .take_while(|(a, b)| a == b)
                .count();
            return Err(format!(
                "{what}, chunk {chunk}, flit {at}: {:x?} instead of {:x?}; {} flits instead of {}",
                given.get(at),
                expected.get(at),
                given.len(),
                expected.len()
            ));
        }
    }
    Ok(())
}

/// Cycles of both directions.
#[derive(Debug, Clone)]
pub struct RoundTrip {
    /// The compressor.
    pub compress: Simulated,
    /// The decompressor.
    pub decompress: Simulated,
}
