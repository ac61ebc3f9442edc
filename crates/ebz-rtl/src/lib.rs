//! Simulations of the hardware cores in `rtl/`.
//!
//! Every core takes and gives flits of 128 bits with a valid/ready handshake, so that one function runs them
//! all: [`simulate`].

pub mod fields;
pub mod fre;
pub mod zfp;

use std::ffi::{CString, c_char, c_int};

/// 128 bits; byte 0 is the lowest, and the first in memory.
pub type Flit = [u32; 4];

/// How a simulation is run.
#[derive(Debug, Clone, Copy)]
pub struct Conditions {
    /// Per cent of the cycles in which no input is offered; the bus has garbage then.
    pub stall_input: u32,
    /// Per cent of the cycles in which no output is taken.
    pub stall_output: u32,
    /// Of the stalls, the garbage, and the registers before reset.
    pub seed: u64,
    /// Cycles to record.
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
    /// Handshake of the input.
    pub input: [bool; 2],
    /// Handshake of the output.
    pub output: [bool; 2],
    /// The flit of the output is the last one of its chunk.
    pub last: bool,
    /// Bus of the input.
    pub input_data: Flit,
    /// Bus of the output.
    pub output_data: Flit,
}

/// What came out.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The flits of each chunk.
    pub chunks: Vec<Vec<Flit>>,
    /// Cycles from the end of reset to the last flit.
    pub cycles: u64,
    /// Cycles to the first flit.
    pub latency: u64,
    /// The first cycles.
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

/// No core needs more cycles for a flit of its input or output, without stalls.
const MOST_CYCLES_PER_FLIT: u64 = 40;

/// Words of the trace for each cycle, as in `harness.h`.
const TRACE_WORDS: usize = 9;

unsafe extern "C" {
    fn simulate_core(core: *const c_char, request: *const Request, outcome: *mut Outcome) -> bool;
    fn choose_mutant(number: c_int);
}

/// Runs a core until it has given as many chunks as there are in the input, which take at most `room` flits. Errors
/// say how it broke the rules of the handshake, or that it took too long.
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
        most_cycles: MOST_CYCLES_PER_FLIT * 10_000 / u64::from(stalls)
            * (input.len() + room + 10) as u64,
        trace: trace.as_mut_ptr(),
        trace_cycles: conditions.trace,
    };
    let mut outcome = Outcome::default();
    let name = CString::new(core).map_err(|error| error.to_string())?;
    // SAFETY: the memory of the request has the sizes given in it and outlives the call; the name ends with 0.
    if !unsafe { simulate_core(name.as_ptr(), &request, &mut outcome) } {
        return Err(format!("there is no core {core}"));
    }
    if outcome.broken != 0 {
        return Err(format!(
            "{core} breaks the handshake: {} flits given",
            outcome.given
        ));
    }
    if outcome.chunks != chunks.len() || outcome.taken != input.len() {
        return Err(format!(
            "{core} hangs: {} of {} flits taken, {} of {} chunks given",
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

/// Switches one of the faults on that `scripts/rtl_mutants.py` put into the sources; 0 is none.
pub fn set_mutant(number: i32) {
    // SAFETY: sets a number.
    unsafe { choose_mutant(number) }
}

/// Words as flits, filled up with zeros.
pub fn flits(words: &[u32]) -> Vec<Flit> {
    let flit = |words: &[u32]| std::array::from_fn(|i| words.get(i).copied().unwrap_or(0));
    words.chunks(4).map(flit).collect()
}

/// Bytes as flits, filled up with zeros.
pub fn byte_flits(bytes: &[u8]) -> Vec<Flit> {
    let word = |bytes: &[u8]| {
        bytes
            .iter()
            .rev()
            .fold(0, |word, &byte| word << 8 | u32::from(byte))
    };
    flits(&bytes.chunks(4).map(word).collect::<Vec<_>>())
}

/// Runs a core, whose output must be as expected.
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

/// Says where two lists of chunks differ.
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
