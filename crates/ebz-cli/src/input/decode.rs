//! A frame of an `.ebz` file as a stream of values.

use super::PIECE;
use anyhow::Result;
use ebz::{Limits, Reader};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// The values of a frame, decoded ahead by a thread.
pub struct Decoded {
    pieces: Receiver<std::io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    used: usize,
}

struct Sender(SyncSender<std::io::Result<Vec<u8>>>);

/// Starts to decode a frame.
pub fn decode(path: &Path, frame: usize, threads: usize, limits: Limits) -> Result<Decoded> {
    let reader = Reader::open(path)?.threads(threads).limits(limits);
    let (sender, pieces) = sync_channel(2);
    std::thread::Builder::new().spawn(move || {
        let mut sender = Sender(sender);
        let mut run = || -> ebz::Result<()> {
            let frame = reader.frame(frame)?;
            let whole: Vec<_> = frame.header().shape().iter().map(|&n| 0..n).collect();
            frame.write_region(&whole, &mut sender)
        };
        if let Err(error) = run() {
            // The receiver is gone: stop silently.
            let _ = sender.0.send(Err(std::io::Error::other(error)));
        }
    })?;
    Ok(Decoded {
        pieces,
        piece: Vec::new(),
        used: 0,
    })
}

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // A slab may be as large as the array, and each queued one is a copy.
        let piece = &bytes[..bytes.len().min(PIECE)];
        match self.0.send(Ok(piece.to_vec())) {
            Ok(()) => Ok(piece.len()),
            Err(_) => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Read for Decoded {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        while self.used == self.piece.len() {
            let Ok(piece) = self.pieces.recv() else {
                return Ok(0);
            };
            self.piece = piece?;
            self.used = 0;
        }
        let rest = &self.piece[self.used..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.used += count;
        Ok(count)
    }
}
