//! Columns that grow and are emptied every 4 MiB.

use kafka_protocol::records::Record;

/// How many bytes the columns hold before they are emptied.
const CHUNK: usize = 4 << 20;

/// Byte strings and their ends, as an Arrow binary column has them.
#[derive(Default)]
struct ByteStrings {
    data: Vec<u8>,
    ends: Vec<i32>,
}

impl ByteStrings {
    fn add(&mut self, value: Option<&[u8]>) {
        self.data.extend_from_slice(value.unwrap_or_default());
        self.ends.push(self.data.len() as i32);
    }

    fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
    }
}

#[derive(Default)]
pub struct Columns {
    offsets: Vec<i64>,
    timestamps: Vec<i64>,
    keys: ByteStrings,
    values: ByteStrings,
    header_keys: ByteStrings,
    header_values: ByteStrings,
    header_ends: Vec<i32>,
    weighted: i64,
    last: i64,
}

impl Columns {
    pub fn begin(&mut self) {
        self.weighted = 0;
        self.last = 0;
    }

    pub fn add(&mut self, record: &Record) {
        self.offsets.push(record.offset);
        self.timestamps.push(record.timestamp);
        self.keys.add(record.key.as_deref());
        self.values.add(record.value.as_deref());
        for (name, value) in &record.headers {
            self.header_keys.add(Some(name.as_bytes()));
            self.header_values.add(value.as_deref());
        }
        self.header_ends.push(self.header_keys.ends.len() as i32);
    }

    pub fn empty_if_full(&mut self) {
        let strings = self.keys.data.len()
            + self.values.data.len()
            + self.header_keys.data.len()
            + self.header_values.data.len();
        if 20 * self.offsets.len() + strings >= CHUNK {
            self.empty();
        }
    }

    pub fn empty(&mut self) {
        let (Some(offset), Some(timestamp)) = (self.offsets.last(), self.timestamps.last()) else {
            return;
        };
        self.last = offset + timestamp;
        self.weighted += 31 * self.keys.data.len() as i64
            + 37 * self.values.data.len() as i64
            + 41 * self.header_keys.data.len() as i64
            + 43 * self.header_values.data.len() as i64;
        self.offsets.clear();
        self.timestamps.clear();
        self.keys.clear();
        self.values.clear();
        self.header_keys.clear();
        self.header_values.clear();
        self.header_ends.clear();
    }

    /// Returns the number of checksum.py.
    pub fn checksum(&self) -> i64 {
        self.weighted + self.last
    }
}
