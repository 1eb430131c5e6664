//! Decompression of what Kafka's producers and brokers compress.

use std::collections::HashMap;
use std::hash::Hasher;
use std::io::Read;

/// Decompresses the payload of an entry of the given magic to at most `limit` bytes.
///
/// The error is a sentence: the payload is not valid, or the result would be larger.
pub type Decompress = fn(payload: &[u8], magic: i8, limit: usize) -> Result<Vec<u8>, String>;

/// Returns the function of each codec, by its number; change the map to use other libraries.
pub fn codecs() -> HashMap<u8, Decompress> {
    HashMap::from([
        (1, gunzip as Decompress),
        (2, unsnappy),
        (3, unlz4),
        (4, unzstd),
    ])
}

fn read_all(from: impl Read, output: &mut Vec<u8>, limit: usize) -> Result<(), String> {
    let left = limit - output.len();
    let count = from
        .take(left as u64 + 1)
        .read_to_end(output)
        .map_err(|error| error.to_string())?;
    if count > left {
        return Err(format!(
            "more than {limit} bytes decompressed, which is the limit"
        ));
    }
    Ok(())
}

/// Members that follow one another are one stream; other bytes behind a member are ignored.
fn gunzip(payload: &[u8], _magic: i8, limit: usize) -> Result<Vec<u8>, String> {
    let (mut rest, mut output) = (payload, Vec::new());
    loop {
        let mut member = flate2::bufread::GzDecoder::new(rest);
        read_all(&mut member, &mut output, limit).map_err(|error| format!("gzip: {error}"))?;
        rest = member.into_inner();
        if rest.len() < 19 || !rest.starts_with(&[0x1f, 0x8b, 8]) {
            return Ok(output);
        }
    }
}

/// Frames that follow one another are one stream.
fn unzstd(payload: &[u8], _magic: i8, limit: usize) -> Result<Vec<u8>, String> {
    let mut output = Vec::new();
    zstd::stream::read::Decoder::with_buffer(payload)
        .map_err(|error| error.to_string())
        .and_then(|stream| read_all(stream, &mut output, limit))
        .map_err(|error| format!("zstd: {error}"))?;
    Ok(output)
}

const XERIAL: &[u8] = b"\x82SNAPPY\0";

/// One raw block, or the chunks of xerial's snappy-java, which Java clients write.
fn unsnappy(payload: &[u8], _magic: i8, limit: usize) -> Result<Vec<u8>, String> {
    if payload.len() < 16 || !payload.starts_with(XERIAL) {
        return snappy_block(payload, limit);
    }
    let (mut rest, mut output) = (&payload[16..], Vec::new());
    while rest.len() >= 4 {
        if rest.len() >= 16 && rest.starts_with(XERIAL) {
            if i32::from_be_bytes(rest[8..12].try_into().unwrap()) < 1 {
                return Err("snappy: another stream of a version that does not exist".into());
            }
            rest = &rest[16..];
            continue;
        }
        let length = i32::from_be_bytes(rest[..4].try_into().unwrap());
        rest = &rest[4..];
        let left = rest.len();
        let block = usize::try_from(length)
            .ok()
            .and_then(|length| rest.get(..length))
            .ok_or_else(|| format!("snappy: a chunk of {length} bytes; {left} are left"))?;
        output.extend(snappy_block(block, limit - output.len())?);
        rest = &rest[block.len()..];
    }
    if !rest.is_empty() {
        return Err("snappy: the payload ends inside the length of a chunk".into());
    }
    Ok(output)
}

/// Compares the size that a block states with the limit and with what its bytes can hold, then decompresses.
fn snappy_block(block: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    let size = snap::raw::decompress_len(block).map_err(|error| format!("snappy: {error}"))?;
    // Three bytes stand for 64 at most.
    if size > limit || size / 22 > block.len() {
        let found = format!("{} bytes that state {size} decompressed", block.len());
        return Err(format!("snappy: {found}; the limit is {limit}"));
    }
    snap::raw::Decoder::new()
        .decompress_vec(block)
        .map_err(|error| format!("snappy: {error}"))
}

fn xxh32(data: &[u8]) -> u32 {
    let mut hash = twox_hash::XxHash32::with_seed(0);
    hash.write(data);
    hash.finish() as u32
}

fn word(data: &[u8], at: usize) -> Result<u32, String> {
    data.get(at..at + 4)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
        .ok_or_else(|| "lz4: the payload has no end mark".into())
}

/// The part of the LZ4 frame format that Kafka reads: one frame of independent blocks.
///
/// Kafka wrote a wrong header checksum into messages of magic 0 (KAFKA-3160), so it is not looked at there; size and
/// checksum of the content never are.
fn unlz4(payload: &[u8], magic: i8, limit: usize) -> Result<Vec<u8>, String> {
    if payload.len() < 7 || word(payload, 0)? != 0x184D_2204 {
        return Err("lz4: this is not an LZ4 frame".into());
    }
    let (flags, descriptor) = (payload[4], payload[5]);
    if flags & 0xE3 != 0x60 || descriptor & 0x8F != 0 || descriptor >> 4 < 4 {
        return Err("lz4: a frame descriptor that Kafka does not read".into());
    }
    let most = 1usize << (8 + 2 * (descriptor >> 4));
    let behind = if flags & 0x10 != 0 { 4 } else { 0 };
    let header = if flags & 0x08 != 0 { 14 } else { 6 };
    let stored = payload
        .get(header)
        .ok_or("lz4: the payload ends inside the header")?;
    if magic > 0 && *stored != (xxh32(&payload[4..header]) >> 8) as u8 {
        return Err("lz4: wrong header checksum".into());
    }
    let (mut at, mut output) = (header + 1, Vec::new());
    loop {
        let stated = word(payload, at)?;
        let length = (stated & 0x7FFF_FFFF) as usize;
        at += 4;
        if length == 0 {
            if flags & 0x04 != 0 && payload.len() - at < 4 {
                return Err("lz4: the payload ends before the checksum of the content".into());
            }
            return Ok(output);
        }
        let left = payload.len() - at;
        if length > most || length + behind > left {
            return Err(format!("lz4: a block of {length} bytes; {left} are left"));
        }
        let block = &payload[at..at + length];
        at += length;
        if behind > 0 && word(payload, at)? != xxh32(block) {
            return Err("lz4: wrong block checksum".into());
        }
        at += behind;
        let before = output.len();
        if stated >> 31 != 0 {
            output.extend_from_slice(block);
        } else {
            let content = lz4_flex::block::decompress(block, most.min(255 * length))
                .map_err(|error| format!("lz4: {error}"))?;
            output.extend(content);
        }
        if output.len() == before {
            return Ok(output); // Kafka takes an empty block for the end
        }
        if output.len() > limit {
            return Err(format!(
                "lz4: more than {limit} bytes decompressed, which is the limit"
            ));
        }
    }
}
