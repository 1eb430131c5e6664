// Reads logs by kafkajs, as its consumer decodes a fetch response and filters what it delivers.
import { hex, serve, time } from '../shared/node/answers.js'
import zlib from 'node:zlib'
import kafkajs from 'kafkajs'
import Batch from 'kafkajs/src/consumer/batch.js'
import Decoder from 'kafkajs/src/protocol/decoder.js'
import decodeMessages from 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js'
import Snappy from 'kafkajs-snappy'

const { CompressionCodecs, CompressionTypes } = kafkajs

CompressionCodecs[CompressionTypes.Snappy] = Snappy
const lacks = ['lz4'] // the user installs codecs, and that of lz4 has to be compiled
if ('zstdDecompressSync' in zlib) {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({ decompress: async bytes => zlib.zstdDecompressSync(bytes) })
} else {
  lacks.push('zstd')
}

await serve({ checks: ['grammar', 'exact', 'codec'], lacks }, async (log, records) => {
  for (let offset = 0n, start = 0; start < log.length;) {
    const batch = new Batch('t', String(offset), { partition: 0, messages: await fetched(log.subarray(start)) })
    records.push(...batch.messages.map(row))
    if (batch.isEmptyIncludingFiltered()) break
    offset = BigInt(batch.lastOffset()) + 1n
    const next = entryWith(offset, log, start)
    if (next === start) break
    start = next
  }
}, async (log, records, settings) => {
  const abortedTransactions = (settings.aborted_transactions ?? []).map(transaction => (
    { producerId: transaction.producer_id, firstOffset: transaction.first_offset }
  ))
  const data = { partition: 0, messages: await fetched(log), abortedTransactions }
  records.push(...new Batch('t', settings.fetch_offset, data).messages.map(row))
})

function fetched (log) {
  const size = Buffer.alloc(4)
  size.writeInt32BE(log.length)
  return decodeMessages(new Decoder(Buffer.concat([size, log])))
}

/** Returns the position of the entry from which a broker answers the fetch of an offset; the log's size at its end. */
function entryWith (offset, log, start) {
  for (let position = start; position + 17 <= log.length;) {
    const delta = log[position + 16] === 2 && position + 27 <= log.length ? log.readInt32BE(position + 23) : 0
    const size = log.readInt32BE(position + 8)
    if (log.readBigInt64BE(position) + BigInt(delta) >= offset || size < 0) return position
    position += 12 + size
  }
  return log.length
}

function row (message) {
  const headers = Object.entries(message.headers ?? {})
  return {
    offset: message.offset,
    timestamp: time(message.timestamp),
    key: hex(message.key),
    value: hex(message.value),
    headers: headers.flatMap(([key, values]) => [values].flat().map(value => ({ key: hex(key), value: hex(value) })))
  }
}
