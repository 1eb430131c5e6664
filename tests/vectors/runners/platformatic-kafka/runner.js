// Reads logs by @platformatic/kafka, as its stream of messages reads the records of a fetch response.
import { hex, serve, time } from '../shared/node/answers.js'
import zlib from 'node:zlib'
import { IS_CONTROL, Reader, readRecordsBatches } from '@platformatic/kafka'

// It reads no v0 and v1, has no check of CRCs, and takes zstd from Node, from version 22.15 on.
const lacks = ['v0', 'v1', ...('zstdDecompressSync' in zlib ? [] : ['zstd'])]

await serve({ checks: ['grammar', 'exact', 'codec'], lacks }, (log, records) => {
  const batches = readRecordsBatches(Reader.from(log))
  records.push(...batches.filter(batch => !(batch.attributes & IS_CONTROL)).flatMap(rows))
})

function rows (batch) {
  return batch.records.map(record => ({
    offset: String(batch.firstOffset + BigInt(record.offsetDelta)),
    timestamp: time(batch.firstTimestamp + record.timestampDelta), // as the class MessagesStream adds them
    key: hex(record.key),
    value: hex(record.value),
    headers: record.headers.map(([key, value]) => ({ key: hex(key), value: hex(value) }))
  }))
}
