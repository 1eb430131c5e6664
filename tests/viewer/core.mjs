// Usage: node core.mjs SCRIPT... < [["kafka_log", "FILE"], ...]
// Runs the page's scripts that need no page. Prints for each file what it finds and where its fields lie.
import fs from "node:fs";
import vm from "node:vm";

globalThis.self = globalThis;
for (const file of process.argv.slice(2))
  vm.runInThisContext(fs.readFileSync(file, "utf8"), { filename: file });
const inspect = vm.runInThisContext(`(async (format, bytes) => {
  const cache = new BlockCache(new WindowSource("file", bytes));
  const isLog = ["kafka_log", "kafka_kraft_snapshot"].includes(format);
  const doc = isLog ? new LogDocument(cache) : new FieldsDocument(cache, format);
  await doc.start();
  const payloads = [];
  for (let number = 0; isLog && number < doc.count; number += 1) {
    const node = await doc.node(number);
    const opened = node.open && (await node.open());
    if (!opened?.payload) continue;
    const payload = new PayloadDocument(opened.payload, "payload");
    payloads.push({ bytes: btoa(String.fromCharCode(...payload.bytes)), fields: await fieldsOf(payload) });
  }
  const lazy = isLog ? new KafkaLogLazy.KafkaLogLazy(new KaitaiStream(bytes.slice().buffer)) : null;
  lazy?._read();
  const framed = lazy?.whole.entries.map((entry) => [entry.ofsEntry, (entry.skipped ?? entry.rest).length, entry.isKnown]);
  const outcomes = Array.from({ length: doc.index?.count ?? 0 }, (_, number) => doc.index.outcomeOf(number));
  return { findings: doc.findings, fields: await fieldsOf(doc), payloads, outcomes, framed };
})`);
const results = [];
for (const [format, file] of JSON.parse(fs.readFileSync(0, "utf8"))) {
  const bytes = new Uint8Array(fs.readFileSync(file));
  results.push(await inspect(format, bytes.slice()));
}
process.stdout.write(JSON.stringify(results));
