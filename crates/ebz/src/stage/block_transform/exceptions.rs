//! The values that no transform carries, kept bit for bit: NaN, infinities, fill values, and what
//! the bound cannot be kept for.
//!
//! In the stream: the number of runs, then for each run its distance from the end of the last one,
//! twice its length less one, plus one if its value is not that of the run before, and then that
//! value. Numbers are LEB128. A land mask costs a few bytes per coast line crossed.

use crate::element::Element;
use crate::error::{Error, Result};

/// Marks of the exceptions of a chunk.
#[derive(Debug, Default)]
pub struct Exceptions {
    marks: Vec<u64>,
    any: bool,
}

impl Exceptions {
    /// None of `len` values is marked.
    pub fn reset(&mut self, len: usize) {
        if self.any || self.marks.len() != len.div_ceil(64) {
            self.marks.clear();
            self.marks.resize(len.div_ceil(64), 0);
        }
        self.any = false;
    }

    /// Marks a value.
    pub fn mark(&mut self, index: usize) {
        self.marks[index / 64] |= 1 << (index % 64);
        self.any = true;
    }

    /// Whether there are marks.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Appends the marked values, if there are any.
    pub fn write_to<T: Element>(&self, values: &[T], out: &mut Vec<u8>) {
        if !self.any {
            return;
        }
        let mut runs: u64 = 0;
        let mut list = Vec::new();
        let mut end = 0;
        let mut last = None;
        let mut marked = self.indices().peekable();
        while let Some(start) = marked.next() {
            let word = values[start].to_word();
            let mut length = 1;
            while marked
                .next_if(|&i| i == start + length && values[i].to_word() == word)
                .is_some()
            {
                length += 1;
            }
            let new = last != Some(word);
            put_number(&mut list, (start - end) as u64);
            put_number(&mut list, 2 * (length as u64 - 1) + u64::from(new));
            if new {
                list.extend_from_slice(&word.to_le_bytes()[..T::SIZE]);
            }
            (end, last) = (start + length, Some(word));
            runs += 1;
        }
        put_number(out, runs);
        out.extend_from_slice(&list);
    }

    fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        self.marks.iter().enumerate().flat_map(|(i, &mark)| {
            std::iter::successors(Some(mark), |m| Some(m & m.wrapping_sub(1)))
                .take_while(|&m| m != 0)
                .map(move |m| 64 * i + m.trailing_zeros() as usize)
        })
    }
}

/// Puts the listed values in their places.
pub fn read_from<T: Element>(mut bytes: &[u8], values: &mut [T]) -> Result<()> {
    let mut rest = values;
    let mut last = None;
    for _ in 0..take_number(&mut bytes)? {
        let gap = take_number(&mut bytes)?;
        let shape = take_number(&mut bytes)?;
        if shape & 1 == 1 {
            let Some((raw, after)) = bytes.split_at_checked(T::SIZE) else {
                return Err(Error::truncated("the list of exact values ends early"));
            };
            let mut word = [0; 8];
            word[..T::SIZE].copy_from_slice(raw);
            last = Some(T::from_word(u64::from_le_bytes(word)));
            bytes = after;
        }
        let value = last.ok_or_else(|| Error::corrupt("a list of exact values without a value"))?;
        let length = shape / 2 + 1;
        let beyond = || Error::corrupt("an exact value beyond the end of the chunk");
        let start = usize::try_from(gap).map_err(|_| beyond())?;
        let length = usize::try_from(length).map_err(|_| beyond())?;
        let (_, at) = rest.split_at_mut_checked(start).ok_or_else(beyond)?;
        let (run, after) = at.split_at_mut_checked(length).ok_or_else(beyond)?;
        run.fill(value);
        rest = after;
    }
    if bytes.is_empty() {
        Ok(())
    } else {
        Err(Error::corrupt("bytes after the list of exact values"))
    }
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Result<u64> {
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let Some((&byte, after)) = bytes.split_first() else {
            return Err(Error::truncated("the list of exact values ends early"));
        };
        *bytes = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Error::corrupt("a number of more than 63 bits"))
}
