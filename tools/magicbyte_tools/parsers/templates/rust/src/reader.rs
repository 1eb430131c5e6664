//! Reads the records of a log segment, entry by entry: decompressed, with the offsets and times that consumers see.
//!
//! ```no_run
//! let file = std::fs::File::open("00000000000000000000.log")?;
//! for entry in kafka_formats::reader::Reader::new(file)? {
//!     for record in entry?.records {
//!         println!("{} {:?}", record.offset, record.value);
//!     }
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

use kaitai::{BytesReader, KError, KStream, KStruct, OptRc};

use crate::codecs::{codecs, Decompress};
use crate::kafka_control_record::KafkaControlRecord;
use crate::kafka_message::{KafkaMessage, KafkaMessage_TimestampTypes};
use crate::kafka_record::{KafkaRecord, KafkaRecord_RecordBody};
use crate::kafka_record_batch::{KafkaRecordBatch, KafkaRecordBatch_TimestampTypes};

/// Whose clock a timestamp is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimestampType {
    CreateTime,
    LogAppendTime,
}

/// A record as a consumer gets it, or a control record, which consumers skip.
#[derive(Debug, Clone)]
pub struct Record {
    pub offset: i64,
    /// Milliseconds since the Unix epoch; `None` where the record has no time.
    pub timestamp: Option<i64>,
    /// `None` in v0.
    pub timestamp_type: Option<TimestampType>,
    pub key: Option<Vec<u8>>,
    pub value: Option<Vec<u8>>,
    pub headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub is_control: bool,
    /// The transaction marker or KRaft's control record; `None` if its type is not known.
    pub control: Option<OptRc<KafkaControlRecord>>,
}

/// What an [`Entry`] is.
#[derive(Debug, Clone)]
pub enum Kind {
    /// Format v2.
    Batch(OptRc<KafkaRecordBatch>),
    /// Formats v0 and v1, a wrapper among them.
    Message(OptRc<KafkaMessage>),
    /// Bytes that cannot be read, and why.
    Damaged(String),
    /// The beginning of an entry, cut off by the end of the file.
    Cut,
    /// Bytes that a broker allocated and did not fill.
    Zeros,
}

/// A batch or a message, or bytes that are none.
#[derive(Debug, Clone)]
pub struct Entry {
    pub position: u64,
    pub size: u64,
    pub kind: Kind,
    /// Empty unless all of the entry is sound: half a batch is no batch.
    pub records: Vec<Record>,
}

/// Reads the entries of a segment one at a time, and decompresses them.
///
/// An entry that cannot be read is [`Kind::Damaged`], and the next one is looked for where its length says. Where the
/// length itself cannot be right, the rest of the file is one damaged entry.
pub struct Reader<R> {
    /// What to decompress with, by the number of the codec.
    pub codecs: HashMap<u8, Decompress>,
    /// Largest entry as it is stored.
    pub max_entry_bytes: u64,
    /// Largest payload of an entry, decompressed.
    pub max_batch_bytes: usize,
    file: R,
    position: u64,
    end: u64,
}

impl<R: Read + Seek> Reader<R> {
    pub fn new(mut file: R) -> io::Result<Self> {
        let end = file.seek(SeekFrom::End(0))?;
        Ok(Reader {
            codecs: codecs(),
            max_entry_bytes: 1 << 30,
            max_batch_bytes: 256 << 20,
            file,
            position: 0,
            end,
        })
    }

    fn bytes(&mut self, position: u64, size: u64) -> io::Result<Vec<u8>> {
        let mut data = vec![0; size as usize];
        self.file.seek(SeekFrom::Start(position))?;
        self.file.read_exact(&mut data)?;
        Ok(data)
    }

    fn only_zeros(&mut self, position: u64) -> io::Result<bool> {
        for at in (position..self.end).step_by(1 << 16) {
            let piece = self.bytes(at, (self.end - at).min(1 << 16))?;
            if piece.iter().any(|each| *each != 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn read(&mut self) -> io::Result<Entry> {
        let (position, left) = (self.position, self.end - self.position);
        let entry = |size, kind| Entry {
            position,
            size,
            kind,
            records: Vec::new(),
        };
        let head = self.bytes(position, left.min(17))?;
        let length = match head.get(8..12) {
            Some(bytes) => i64::from(i32::from_be_bytes(bytes.try_into().unwrap())),
            None => 0,
        };
        self.position = self.end; // unless another entry follows
        if length == 0 && self.only_zeros(position)? {
            return Ok(entry(left, Kind::Zeros));
        }
        if left >= 12 && length < 14 {
            let found = format!("an entry of {length} bytes; expected 14 or more");
            return Ok(entry(left, Kind::Damaged(found)));
        }
        if left < 17 {
            return Ok(entry(left, Kind::Cut));
        }
        let (stated, magic) = (12 + length as u64, head[16] as i8);
        let size = stated.min(left);
        self.position = position + size;
        if !(0..=2).contains(&magic) {
            let found = format!("magic {magic}; expected 0, 1 or 2");
            return Ok(entry(size, Kind::Damaged(found)));
        }
        if stated > left {
            return Ok(entry(left, Kind::Cut));
        }
        if size > self.max_entry_bytes {
            let limit = self.max_entry_bytes;
            let found = format!("an entry of {size} bytes; the limit is {limit}");
            return Ok(entry(size, Kind::Damaged(found)));
        }
        let data = self.bytes(position, size)?;
        let decoded = match magic {
            2 => self.batch(&data),
            _ => self.message(&data),
        };
        Ok(match decoded {
            Ok((kind, records)) => Entry {
                records,
                ..entry(size, kind)
            },
            Err(Problem(found)) => entry(size, Kind::Damaged(found)),
        })
    }

    fn decompress(&self, codec: u8, magic: i8, payload: &[u8]) -> Result<Vec<u8>, Problem> {
        match self.codecs.get(&codec) {
            Some(decompress) if codec < 4 || magic == 2 => {
                decompress(payload, magic, self.max_batch_bytes).map_err(Problem)
            }
            _ => problem(format!(
                "codec {codec} in magic {magic}; expected one that Kafka has there"
            )),
        }
    }

    fn batch(&self, data: &[u8]) -> Result<(Kind, Vec<Record>), Problem> {
        if data.len() < 61 {
            return problem(format!(
                "a batch of {} bytes; expected 61 or more",
                data.len()
            ));
        }
        verify(crc32c::crc32c(&data[21..]), &data[17..21])?;
        let stream = BytesReader::from(data);
        let batch = KafkaRecordBatch::read_into::<_, KafkaRecordBatch>(&stream, None, None)?;
        let count = *batch.num_records();
        let mut records = Vec::new();
        if !batch.payload().is_none() {
            for record in batch.payload().records().iter() {
                records.push(batch_record(&batch, record)?);
            }
        } else if count > 0 {
            let payload = self.decompress(data[22] & 7, 2, &batch.compressed_payload())?;
            let is_control = *batch.attributes().is_control();
            let stream = BytesReader::from(payload);
            for _ in 0..count {
                let init = |record: &mut KafkaRecord| {
                    record.set_params(is_control);
                    Ok(())
                };
                let record = KafkaRecord::read_into_with_init(&stream, None, None, &init)?;
                records.push(batch_record(&batch, &record)?);
            }
            if !stream.is_eof() {
                return problem(format!("bytes behind the last of {count} records"));
            }
        }
        Ok((Kind::Batch(batch), records))
    }

    fn message(&self, data: &[u8]) -> Result<(Kind, Vec<Record>), Problem> {
        let entry = read_message(data)?;
        let (offset, message) = (*entry.offset(), entry.message().clone());
        let codec = data[17] & 7;
        if codec == 0 {
            let record = message_record(&entry, &entry, offset);
            return Ok((Kind::Message(entry), vec![record]));
        }
        if *message.len_value() < 0 {
            return problem("a wrapper message without a value");
        }
        let magic = *message.magic();
        let inner = inner_messages(&self.decompress(codec, magic, &message.value())?)?;
        let mut base = 0;
        if magic == 1 && offset != 0 {
            // Offsets inside count from the first message.
            let last = inner.last().map_or(0, |message| *message.offset());
            if offset < last {
                return problem(format!("offset {offset} of a wrapper; in it is {last}"));
            }
            base = offset.wrapping_sub(last);
        }
        let records = inner
            .iter()
            .map(|one| message_record(&entry, one, base.wrapping_add(*one.offset())))
            .collect();
        Ok((Kind::Message(entry), records))
    }
}

impl<R: Read + Seek> Iterator for Reader<R> {
    type Item = io::Result<Entry>;

    /// Returns the next entry; an error is one of the file, and ends the iteration.
    fn next(&mut self) -> Option<Self::Item> {
        if self.position >= self.end {
            return None;
        }
        let entry = self.read();
        if entry.is_err() {
            self.position = self.end;
        }
        Some(entry)
    }
}

struct Problem(String);

impl From<KError> for Problem {
    fn from(error: KError) -> Self {
        Problem(format!("{error:?}"))
    }
}

fn problem<T>(found: impl Into<String>) -> Result<T, Problem> {
    Err(Problem(found.into()))
}

fn verify(computed: u32, stored: &[u8]) -> Result<(), Problem> {
    let stored = stored
        .iter()
        .fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    if stored == computed {
        return Ok(());
    }
    problem(format!(
        "stored checksum {stored:08x}, computed {computed:08x}"
    ))
}

fn present(timestamp: i64) -> Option<i64> {
    (timestamp != -1).then_some(timestamp)
}

fn batch_record(batch: &KafkaRecordBatch, record: &KafkaRecord) -> Result<Record, Problem> {
    let (body, attributes) = (record.body(), batch.attributes());
    if *body.num_headers().value()? < 0 || used_bytes(&body)? != record.body_raw().len() {
        return problem("a record that its fields do not fill");
    }
    if *attributes.is_control() && (body.key().len() < 4 || body.key()[0] > 127) {
        return problem("a control record whose key has no version and type");
    }
    let is_append_time =
        *attributes.timestamp_type() == KafkaRecordBatch_TimestampTypes::LogAppendTime;
    let mut headers = Vec::new();
    for header in body.headers().iter() {
        let value = (*header.len_value().value()? >= 0).then(|| header.value().clone());
        headers.push((header.key().clone(), value));
    }
    let (timestamp, timestamp_type) = if is_append_time {
        (*batch.max_timestamp(), TimestampType::LogAppendTime)
    } else {
        let delta = *body.timestamp_delta().value()?;
        (
            batch.base_timestamp().wrapping_add(delta),
            TimestampType::CreateTime,
        )
    };
    let delta = i64::from(*body.offset_delta().value()?);
    let has_key = *body.len_key().value()? >= 0;
    let has_value = *body.len_value().value()? >= 0;
    let is_control = *attributes.is_control();
    let control = match body.control_record() {
        Ok(control) if is_control && !control.is_none() => Some(control.clone()),
        _ => None, // a type or version that is not known
    };
    Ok(Record {
        offset: batch.base_offset().wrapping_add(delta),
        timestamp: present(timestamp),
        timestamp_type: Some(timestamp_type),
        key: has_key.then(|| body.key().clone()),
        value: has_value.then(|| body.value().clone()),
        headers,
        is_control,
        control,
    })
}

/// Returns the bytes that the fields of a record take.
fn used_bytes(body: &KafkaRecord_RecordBody) -> Result<usize, Problem> {
    let mut used = 1 + body.key().len() + body.value().len();
    used += *body.timestamp_delta().num_bytes()? as usize;
    for number in [
        body.offset_delta(),
        body.len_key(),
        body.len_value(),
        body.num_headers(),
    ] {
        used += *number.num_bytes()? as usize;
    }
    for header in body.headers().iter() {
        used += header.key().len() + header.value().len();
        used += *header.len_key().num_bytes()? as usize;
        used += *header.len_value().num_bytes()? as usize;
    }
    Ok(used)
}

fn read_message(data: &[u8]) -> Result<OptRc<KafkaMessage>, Problem> {
    verify(crc32fast::hash(&data[16..]), &data[12..16])?;
    let stream = BytesReader::from(data);
    Ok(KafkaMessage::read_into::<_, KafkaMessage>(
        &stream, None, None,
    )?)
}

/// Returns the messages in a wrapper; one that is cut off at the end is left out, as in Kafka.
fn inner_messages(payload: &[u8]) -> Result<Vec<OptRc<KafkaMessage>>, Problem> {
    let (mut messages, mut rest) = (Vec::new(), payload);
    while rest.len() >= 12 {
        let length = i32::from_be_bytes(rest[8..12].try_into().unwrap());
        if length < 14 {
            let found = format!("a message of {length} bytes in a wrapper");
            return problem(format!("{found}; expected 14 or more"));
        }
        let size = 12 + length as usize;
        if size > rest.len() {
            break;
        }
        messages.push(read_message(&rest[..size])?);
        if rest[17] & 7 != 0 {
            return problem("a wrapper message in a wrapper message");
        }
        rest = &rest[size..];
    }
    if messages.is_empty() {
        return problem("a wrapper message that holds no message");
    }
    Ok(messages)
}

fn message_record(wrapper: &KafkaMessage, entry: &KafkaMessage, offset: i64) -> Record {
    let (outer, message) = (wrapper.message(), entry.message());
    let is_append_time = *outer.magic() > 0
        && *outer.attributes().timestamp_type() == KafkaMessage_TimestampTypes::LogAppendTime;
    let timestamp = match *message.magic() {
        0 => -1,
        _ if is_append_time => *outer.timestamp(),
        _ => *message.timestamp(),
    };
    let (has_type, has_key) = (*outer.magic() > 0, *message.len_key() >= 0);
    let has_value = *message.len_value() >= 0;
    let timestamp_type = match is_append_time {
        true => TimestampType::LogAppendTime,
        false => TimestampType::CreateTime,
    };
    Record {
        offset,
        timestamp: present(timestamp),
        timestamp_type: has_type.then_some(timestamp_type),
        key: has_key.then(|| message.key().clone()),
        value: has_value.then(|| message.value().clone()),
        headers: Vec::new(),
        is_control: false,
        control: None,
    }
}
