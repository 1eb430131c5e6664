// Speaks the protocol of the vectors for a runner in JavaScript: RUNNER FORMAT FILE..., or RUNNER --lines.
import { readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** Returns bytes as the protocol prints them; null and undefined are null. */
export function hex (bytes) {
  return bytes === null || bytes === undefined ? null : Buffer.from(bytes).toString('hex')
}

/** Returns a time as the protocol prints it: null where there is none. */
export function time (milliseconds) {
  const text = String(milliseconds ?? -1)
  return text === '-1' ? null : text
}

/**
 * Answers the cases that the command line or the standard input names.
 * `options` are the keys `checks` and `lacks` of every answer. `read` pushes the records of a log to the array that it is
 * given. Where it throws an error and delivered none, no records are printed: some clients drop those before the
 * fault with the whole fetch.
 */
export async function serve (options, read) {
  const [first, ...files] = process.argv.slice(2)
  if (first !== '--lines') {
    for (const file of files) await answer(first, file, options, read)
    return
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line)
    await answer(request.format, request.file, options, read)
  }
}

async function answer (format, file, options, read) {
  let content
  if (format !== 'kafka_log') {
    content = { unsupported: 'a client reads no such file' }
  } else {
    const records = []
    try {
      await read(readFileSync(file), records)
      content = { records, error: null, ...options }
    } catch (error) {
      const delivered = records.length ? { records } : {}
      content = { ...delivered, stopped: true, error: { message: String(error?.message ?? error) }, ...options }
    }
  }
  writeSync(1, JSON.stringify(content) + '\n')
}
