//! Print the records of log segments as lines of JSON: cargo run --example print_records FILE.log...
//!
//! Without arguments, the names of files are read from standard input, and each file gives one line:
//! {"records": [...], "problems": [...]}.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use kafka_formats::reader::{Kind, Reader, Record, TimestampType};

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for each in text.chars() {
        match each {
            '"' | '\\' => quoted.extend(['\\', each]),
            '\0'..='\x1f' => quoted += &format!("\\u{:04x}", each as u32),
            _ => quoted.push(each),
        }
    }
    quoted + "\""
}

fn hex(data: &Option<Vec<u8>>) -> String {
    data.as_ref().map_or("null".into(), |data| {
        let digits: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("\"{digits}\"")
    })
}

fn json(record: &Record) -> String {
    let timestamp = record
        .timestamp
        .map_or("null".into(), |time| format!("\"{time}\""));
    let timestamp_type = match record.timestamp_type {
        None => "null",
        Some(TimestampType::CreateTime) => "\"CreateTime\"",
        Some(TimestampType::LogAppendTime) => "\"LogAppendTime\"",
    };
    let headers: Vec<String> = record
        .headers
        .iter()
        .map(|(key, value)| {
            let key = hex(&Some(key.clone()));
            format!("{{\"key\": {key}, \"value\": {}}}", hex(value))
        })
        .collect();
    let control = match &record.key {
        _ if !record.is_control => String::new(),
        Some(key) if key.len() >= 4 => {
            // `record.control` has the rest
            format!(
                ", \"control_type\": {}",
                i16::from_be_bytes([key[2], key[3]])
            )
        }
        _ => ", \"control_type\": -1".to_string(),
    };
    format!(
        "{{\"offset\": \"{}\", \"timestamp\": {timestamp}, \"timestamp_type\": {timestamp_type}, \
         \"key\": {}, \"value\": {}, \"headers\": [{}]{control}}}",
        record.offset,
        hex(&record.key),
        hex(&record.value),
        headers.join(", "),
    )
}

fn read(
    name: &str,
    mut print: impl FnMut(String) -> io::Result<()>,
) -> io::Result<Vec<(u64, String)>> {
    let mut problems = Vec::new();
    for entry in Reader::new(File::open(name)?)? {
        let entry = entry?;
        for record in &entry.records {
            print(json(record))?;
        }
        if let Kind::Damaged(found) = entry.kind {
            problems.push((entry.position, found));
        }
    }
    Ok(problems)
}

fn answer(name: &str) -> io::Result<String> {
    let mut records = Vec::new();
    let problems: Vec<String> = read(name, |record| {
        records.push(record);
        Ok(())
    })?
    .into_iter()
    .map(|(at, found)| {
        format!(
            "{{\"position\": \"{at}\", \"message\": {}}}",
            quoted(&found)
        )
    })
    .collect();
    let (records, problems) = (records.join(", "), problems.join(", "));
    Ok(format!(
        "{{\"records\": [{records}], \"problems\": [{problems}]}}"
    ))
}

fn main() -> io::Result<ExitCode> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let mut output = BufWriter::new(io::stdout().lock());
    let mut status = ExitCode::SUCCESS;
    if names.is_empty() {
        for name in io::stdin().lines() {
            writeln!(output, "{}", answer(&name?)?)?;
        }
    }
    for name in &names {
        for (at, found) in read(name, |record| writeln!(output, "{record}"))? {
            eprintln!("{name}: at byte {at}: {found}");
            status = ExitCode::FAILURE;
        }
    }
    output.flush()?;
    Ok(status)
}
