// Runs the vectors on kafkajs: node --test
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { vectors } from 'kafka-record-vectors'

const require = createRequire(import.meta.url)
const Decoder = require('kafkajs/src/protocol/decoder')
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')

const LACKS = ['snappy', 'lz4', 'zstd']
const KNOWN = {} // 'kafka_log/a-case': 'link to an issue'
const hex = bytes => bytes === null ? null : bytes.toString('hex')

async function read (data) {
  const size = Buffer.alloc(4)
  size.writeInt32BE(data.length)
  const messages = await decodeMessages(new Decoder(Buffer.concat([size, data])))
  return messages.filter(message => !message.isControlRecord)
    .map(({ offset, key, value }) => ({ offset, key: hex(key), value: hex(value) }))
}

for (const { id, data, content } of vectors('v2-read', LACKS)) {
  test(id, { todo: KNOWN[id] }, async () => {
    const records = content.records.map(({ offset, key, value }) => ({ offset, key, value }))
    assert.deepEqual(await read(data), records, content.why)
  })
}
