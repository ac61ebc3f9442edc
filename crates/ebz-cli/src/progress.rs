//! A progress bar on a terminal, for anything that takes more than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar for this many bytes; hidden when nobody watches, and at first.
pub fn bar(bytes: u64, what: &'static str, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
    if quiet || !std::io::stderr().is_terminal() {
        return bar;
    }
    let style = "{msg} [{wide_bar}] {percent:>3}% {bytes_per_sec}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message(what);
    let late = bar.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        if !late.is_finished() {
            late.set_draw_target(ProgressDrawTarget::stderr());
        }
    });
    bar
}
