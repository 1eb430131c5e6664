//! The decoder of the crate kafka-protocol, batch by batch: checksums verified. One line in, one pass
//! over a file, one line out; serve.py has the same protocol.
//!
//! A line is FILE, MODE, VIA and THREADS with tabs between. MODE: `columns`, into vectors that grow,
//! and are emptied every 4 MiB; `check`, the same, and their checksum. VIA is `memory`, and one thread
//! reads.
//!
//! The answer: rows, checksum, nanoseconds of CPU of this thread and of the process, nanoseconds by the
//! clock.

mod columns;

use std::error::Error;
use std::io::{stdin, stdout, BufRead, Write};
use std::time::Instant;

use bytes::{Buf, Bytes};
use columns::Columns;
use kafka_protocol::records::RecordBatchDecoder;

#[derive(Default)]
struct Reader {
    path: String,
    data: Bytes,
    columns: Columns,
}

impl Reader {
    /// Reads the whole file, and returns how many rows it has.
    fn pass(&mut self) -> Result<u64, Box<dyn Error>> {
        let mut rest = self.data.clone();
        let mut rows = 0;
        self.columns.begin();
        while rest.has_remaining() {
            let batch = RecordBatchDecoder::decode(&mut rest)?;
            for record in &batch.records {
                self.columns.add(record);
            }
            rows += batch.records.len() as u64;
            self.columns.empty_if_full();
        }
        self.columns.empty();
        Ok(rows)
    }

    fn answer(&mut self, line: &str) -> Result<String, Box<dyn Error>> {
        let words: Vec<&str> = line.split('\t').collect();
        let [path, mode @ ("columns" | "check"), "memory", _] = words[..] else {
            return Err(format!("{line:?}: expected columns or check, via memory").into());
        };
        if path != self.path {
            self.data = std::fs::read(path)?.into();
            self.path = path.to_string();
        }
        let wall = Instant::now();
        let process = nanoseconds(libc::CLOCK_PROCESS_CPUTIME_ID);
        let thread = nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID);
        let rows = self.pass()?;
        let thread = nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID) - thread;
        let process = nanoseconds(libc::CLOCK_PROCESS_CPUTIME_ID) - process;
        let wall = wall.elapsed().as_nanos();
        let checksum = if mode == "check" {
            self.columns.checksum()
        } else {
            0
        };
        Ok(format!("{rows} {checksum} {thread} {process} {wall}"))
    }
}

fn nanoseconds(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to `time` alone.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut reader = Reader::default();
    for line in stdin().lock().lines() {
        let answer = reader.answer(&line?)?;
        println!("{answer}");
        stdout().flush()?;
    }
    Ok(())
}
