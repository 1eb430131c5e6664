//! Print the entries and records of a log segment: cargo run --example print_log FILE.log

use kafka_formats::kafka_log::{KafkaLog, KafkaLog_Entry_Content};
use kafka_formats::kafka_message::{KafkaMessage, KafkaMessage_Codecs};
use kafka_formats::kafka_record_batch::{KafkaRecordBatch, KafkaRecordBatch_TimestampTypes};
use kaitai::{BytesReader, KResult, KStruct};

// What is absent is empty; its length tells.
fn text(data: &[u8], length: i32) -> String {
    match length {
        0.. => String::from_utf8_lossy(data).into_owned(),
        _ => "null".to_string(),
    }
}

fn print_batch(batch: &KafkaRecordBatch) -> KResult<()> {
    let (base_offset, num_records) = (*batch.base_offset(), *batch.num_records());
    if batch.payload().is_none() {
        // Decompress batch.compressed_payload() (batch.attributes().codec() says how) and parse
        // the result with KafkaRecords.
        println!("batch {base_offset}: {num_records} records, compressed");
        return Ok(());
    }
    println!("batch {base_offset}: {num_records} records");
    let attributes = batch.attributes();
    for record in batch.payload().records().iter() {
        let body = record.body();
        let offset = base_offset + i64::from(*body.offset_delta().value()?);
        let timestamp = match *attributes.timestamp_type() {
            KafkaRecordBatch_TimestampTypes::LogAppendTime => *batch.max_timestamp(),
            _ => *batch.base_timestamp() + *body.timestamp_delta().value()?,
        };
        if *attributes.is_control() {
            println!("  {offset} {timestamp} control record");
        } else {
            let key = text(&body.key(), *body.len_key().value()?);
            let value = text(&body.value(), *body.len_value().value()?);
            println!("  {offset} {timestamp} {key} {value}");
        }
    }
    Ok(())
}

fn print_message(entry: &KafkaMessage) {
    let (offset, message) = (*entry.offset(), entry.message());
    if *message.attributes().codec() != KafkaMessage_Codecs::None {
        println!("message {offset}: compressed"); // decompressed, the value is a KafkaLog
        return;
    }
    let timestamp = match *message.magic() {
        0 => "null".to_string(),
        _ => message.timestamp().to_string(),
    };
    let key = text(&message.key(), *message.len_key());
    let value = text(&message.value(), *message.len_value());
    println!("message {offset}: {timestamp} {key} {value}");
}

fn main() -> KResult<()> {
    let name = std::env::args().nth(1).expect("a file");
    let stream = BytesReader::open(name)?;
    let log = KafkaLog::read_into::<_, KafkaLog>(&stream, None, None)?;
    for entry in log.entries().iter() {
        match &*entry.content() {
            Some(KafkaLog_Entry_Content::KafkaRecordBatch(batch)) => print_batch(batch)?,
            Some(KafkaLog_Entry_Content::KafkaMessage(message)) => print_message(message),
            _ if *entry.is_zero_tail()? => println!("{} zeros", entry.zero_tail().len()),
            _ => println!("{} bytes of an entry that was cut off", entry.partial().len()),
        }
    }
    Ok(())
}
