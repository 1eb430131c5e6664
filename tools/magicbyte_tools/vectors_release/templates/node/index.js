// Test vectors of Kafka's record formats: bytes, and the records that a reader must read from them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the cases, the manifest, the schemas, README.md and the scorer. */
export const folder = fileURLToPath(new URL('./vectors/', import.meta.url))

const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))

/**
 * Yields the cases of a level, or all, without those that need a feature in `lacks`: their `id`, which
 * never changes, `data`, `path` (a folder if the format is log_dir) and `content`, the JSON of the case.
 */
export function * vectors (level = null, lacks = []) {
  for (const { id, path: name, files, levels = [], needs = [] } of manifest.cases) {
    if (level !== null && !levels.includes(level)) continue
    if (needs.some(feature => lacks.includes(feature))) continue
    const path = join(folder, files ? name : `${name}.bin`)
    const content = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
    yield { id, path, content, data: files ? null : readFileSync(path) }
  }
}
