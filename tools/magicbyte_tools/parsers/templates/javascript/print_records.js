"use strict";

// Print the records of log segments as lines of JSON: node print_records.js FILE.log...
// Without arguments, the names of files are read from standard input, and each file gives one line:
// {"records": [...], "problems": [...]}.

const fs = require("node:fs");
const { readLog } = require("./reader");

const hexed = (data) => (data === null ? null : data.toString("hex"));
const decimal = (number) => (number === null ? null : String(number));

function toRow(record) {
  const row = {
    offset: decimal(record.offset),
    timestamp: decimal(record.timestamp),
    timestamp_type: record.timestampType,
    key: hexed(record.key),
    value: hexed(record.value),
    headers: record.headers.map(({ key, value }) => ({
      key: hexed(key),
      value: hexed(value),
    })),
  };
  if (record.isControl) {
    // record.control has the rest
    const hasType = record.key !== null && record.key.length >= 4;
    row.control_type = hasType ? record.key.readInt16BE(2) : -1;
  }
  return row;
}

function read(name, print) {
  const problems = [];
  for (const entry of readLog(name)) {
    for (const record of entry.records) print(toRow(record));
    if (entry.kind === "damaged") {
      problems.push({ position: String(entry.position), message: entry.problem });
    }
  }
  return problems;
}

const names = process.argv.slice(2);
if (names.length === 0) {
  for (const name of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const records = [];
    const problems = read(name, (row) => records.push(row));
    process.stdout.write(JSON.stringify({ records, problems }) + "\n");
  }
}
for (const name of names) {
  for (const { position, message } of read(name, (row) => console.log(JSON.stringify(row)))) {
    console.error(`${name}: at byte ${position}: ${message}`);
    process.exitCode = 1;
  }
}
