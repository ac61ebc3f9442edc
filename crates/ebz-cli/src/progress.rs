//! A progress bar on terminals, for operations that take more than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar for this many bytes; hidden at first, and without a terminal.
pub fn bar(bytes: u64, what: &'static str, quiet: bool) -> ProgressBar {
    let style = "{msg} [{wide_bar}] {percent:>3}% {bytes_per_sec}, {eta} left";
    styled(bytes, what.into(), style, quiet)
}

/// The same for steps.
pub fn steps(count: usize, what: String, quiet: bool) -> ProgressBar {
    let style = "{msg} [{wide_bar}] {percent:>3}% step {pos} of {len}, {eta} left";
    styled(count as u64, what, style, quiet)
}

fn styled(length: u64, what: String, style: &str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
    if quiet || !std::io::stderr().is_terminal() {
        return bar;
    }
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(what);
    let late = bar.clone();
    // Without a thread to show it, there is no bar.
    let _ = std::thread::Builder::new().spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        if !late.is_finished() {
            late.set_draw_target(ProgressDrawTarget::stderr());
        }
    });
    bar
}
