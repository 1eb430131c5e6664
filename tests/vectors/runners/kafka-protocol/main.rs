// Reads logs by the crate kafka-protocol, as a consumer built on it decodes the records of a fetch response.
use bytes::{Buf, Bytes};
use kafka_protocol::records::{Record, RecordBatchDecoder, TimestampType};
use serde_json::{json, Value};
use std::panic::catch_unwind;

const HEADER: usize = 12;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((first, _)) if first == "--lines" => {
            for line in std::io::stdin().lines() {
                let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
                println!("{}", answer(request["format"].as_str().unwrap(), request["file"].as_str().unwrap()));
            }
        }
        Some((format, files)) => files.iter().for_each(|file| println!("{}", answer(format, file))),
        None => panic!("usage: runner FORMAT FILE... | --lines"),
    }
}

fn answer(format: &str, file: &str) -> Value {
    if format != "kafka_log" {
        return json!({"unsupported": "a client reads no such file"});
    }
    let (records, error) = read(std::fs::read(file).unwrap().into());
    let mut answer = json!({
        "records": records,
        "error": error.as_ref().map(|message| json!({"message": message})),
        "checks": ["grammar", "exact", "checksum", "codec"],
        "lacks": ["v0", "v1"],
    });
    if error.is_some() {
        answer["stopped"] = json!(true);
    }
    answer
}

/// Returns the records of the whole batches, up to the first error. A fetch may end inside a batch, and the crate
/// leaves it to its user to see that.
fn read(mut log: Bytes) -> (Vec<Value>, Option<String>) {
    let mut records = vec![];
    while log.len() >= HEADER {
        let size = i32::from_be_bytes(log[8..HEADER].try_into().unwrap());
        if i64::from(size) > (log.len() - HEADER) as i64 {
            break;
        }
        let mut rest = log.clone();
        // A panic ends the task that reads, not the process.
        match catch_unwind(|| (RecordBatchDecoder::decode(&mut rest), rest)) {
            Ok((Ok(set), rest)) => {
                records.extend(set.records.iter().filter(|record| !record.control).map(row));
                log = rest;
            }
            Ok((Err(error), _)) => return (records, Some(error.to_string())),
            Err(_) => return (records, Some("a panic".to_string())),
        }
        if !log.has_remaining() {
            break;
        }
    }
    (records, None)
}

fn row(record: &Record) -> Value {
    let headers: Vec<Value> = record
        .headers
        .iter()
        .map(|(key, value)| json!({"key": hex::encode(key.as_bytes()), "value": hexadecimal(value)}))
        .collect();
    json!({
        "offset": record.offset.to_string(),
        "timestamp": (record.timestamp != -1).then(|| record.timestamp.to_string()),
        "timestamp_type": match record.timestamp_type {
            TimestampType::Creation => "CreateTime",
            TimestampType::LogAppend => "LogAppendTime",
        },
        "key": hexadecimal(&record.key),
        "value": hexadecimal(&record.value),
        "headers": headers,
    })
}

fn hexadecimal(bytes: &Option<Bytes>) -> Option<String> {
    bytes.as_ref().map(hex::encode)
}
