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
 * fault with the whole fetch. `readFetched` does the same with a fetch response; its third argument is the case's settings.
 */
export async function serve (options, read, readFetched) {
  const readers = { kafka_log: read, kafka_fetched: readFetched }
  const [first, ...files] = process.argv.slice(2)
  if (first !== '--lines') {
    const settings = JSON.parse(process.env.CONFORMANCE_SETTINGS ?? '{}')
    for (const file of files) await answer({ ...settings, format: first, file }, options, readers)
    return
  }
  for await (const line of createInterface({ input: process.stdin })) {
    await answer(JSON.parse(line), options, readers)
  }
}

async function answer (request, options, readers) {
  const read = readers[request.format]
  let content
  if (read === undefined) {
    content = { unsupported: 'a client reads no such file' }
  } else {
    const records = []
    try {
      await read(readFileSync(request.file), records, request)
      content = { records, error: null, ...options }
    } catch (error) {
      const delivered = records.length ? { records } : {}
      content = { ...delivered, stopped: true, error: { message: String(error?.message ?? error) }, ...options }
    }
  }
  writeSync(1, JSON.stringify(content) + '\n')
}
