// Reads segments of lines, which versions before 1.0 wrote. Each line consists of a record in the format of exports,
// after the trail of its database (ownership.ts) and its facts (facts.ts):
//
//     /17/23/{"API_VERSION":…}     a request to database 23 in database 17; `/` alone: to the root
//     /17/23/[…]{"API_VERSION":…}  the same with facts
//     -{"API_VERSION":…}           without a caller: the credential was rejected

import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import { newline } from '../values/json-scan.ts'
import { escaped } from './escaped.ts'
import { type ExportedRecord, timestampChars } from './exported-record.ts'
import { type ParsedFacts, readFacts } from './facts.ts'
import { noDatabase } from './ownership.ts'
import type { SearchText } from './search-text.ts'
import { ifPresent } from './segment-files.ts'
import type { RecordGroup, SegmentRecord } from './segment-record.ts'

const blockBytes = 524_288

/**
 * Yields the records of a segment in groups. Yields nothing if the file no longer exists. Skips an incomplete line at the
 * end of the file, a line that is longer than a block, because every valid record is shorter, and lines that do not
 * contain `text`. Throws the reason of `signal` once the signal is aborted.
 */
export async function* lineRecords(
  path: string,
  signal: AbortSignal | undefined,
  text: SearchText | undefined,
): AsyncGenerator<RecordGroup, void, undefined> {
  const file = await ifPresent(open(path))
  if (file === undefined) return
  try {
    const block = Buffer.allocUnsafe(blockBytes)
    let rest = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await file.read(block, rest, block.length - rest, null)
      if (bytesRead === 0) return
      const filled = rest + bytesRead
      const end = block.lastIndexOf(newline, filled - 1) + 1
      if (end > 0) yield recordsIn(block.subarray(0, end), text)
      rest = end === 0 && filled === block.length ? 0 : filled - end
      block.copyWithin(0, end, filled)
    }
  } finally {
    await file.close()
  }
}

function recordsIn(block: Buffer, text: SearchText | undefined): RecordGroup {
  const records: SegmentRecord[] = []
  let damaged = 0
  for (let start = 0, end = 0; start < block.length; start = end + 1) {
    end = block.indexOf(newline, start)
    const bytes = block.subarray(start, end)
    const line = bytes.toString()
    // In a search for a text, most lines do not contain the text. These lines are not parsed.
    if (text?.isIn(line.toLowerCase()) === false) continue
    const found = isUtf8(bytes) ? recordIn(line) : undefined
    if (found === undefined) damaged++
    else records.push(found)
  }
  return { records, damaged }
}

const prefixPattern = /^(-|\/(?:[0-9]+\/)*)?(\[.*)?$/s

/** Returns undefined for a damaged line. */
function recordIn(line: string): SegmentRecord | undefined {
  const at = line.indexOf('{')
  const prefix = at < 0 ? null : prefixPattern.exec(line.slice(0, at))
  if (prefix === null) return undefined
  const [, trail = noDatabase, factsText] = prefix
  const json = line.slice(at)
  try {
    const record = JSON.parse(json) as ExportedRecord
    return record.TS?.length === timestampChars ? lineRecord(trail, factsText, json, record) : undefined
  } catch {
    return undefined
  }
}

/** `factsText`: the unparsed facts. `record`: the parsed `json`. */
function lineRecord(
  trail: string,
  factsText: string | undefined,
  json: string,
  record: ExportedRecord,
): SegmentRecord {
  let parsed: ParsedFacts | undefined
  const facts = () => {
    if (factsText !== undefined) parsed ??= readFacts(factsText, record.FQL_SHAPE)
    return parsed
  }
  // Facts that end with the flag of the slow lane have no names, no error and no commit time. They are not parsed for the
  // shape or the error.
  const mayHaveNamesOrFault =
    factsText !== undefined && !factsText.endsWith(',0]') && !factsText.endsWith(',1]')
  return {
    time: timeOf(record),
    trail,
    regionGroup: record.REGION_GROUP,
    status: Number(record.RESPONSE_CODE),
    queryTimeMs: record.QUERY_TIME_MS,
    readOps: record.BYTE_READ_OPS,
    writeOps: record.BYTE_WRITE_OPS,
    computeOps: record.COMPUTE_OPS,
    bytesIn: record.BYTES_IN,
    bytesOut: record.BYTES_OUT,
    retries: record.TXN_RETRIES,
    tags: record.TAGS,
    get shape() {
      return (mayHaveNamesOrFault ? facts()?.shape : undefined) ?? record.FQL_SHAPE
    },
    get fault() {
      return mayHaveNamesOrFault ? facts()?.fault : undefined
    },
    facts,
    contains(search) {
      if (search.isIn(json.toLowerCase())) return true
      const found = facts()
      if (found === undefined) return false
      const { fault, named, shape } = found
      const texts = [shape, ...named.map(({ name }) => name)]
      if (fault !== undefined) texts.push(fault.code, fault.text, fault.position)
      return search.isIn(texts.map(escaped).join('\n').toLowerCase())
    },
    line: () => json,
  }
}

let latest = { text: '', time: Number.NaN }

/** Returns the time of a record. Most records are in the minute of the preceding record. */
function timeOf({ TS }: ExportedRecord): number {
  const minute = TS.slice(0, 16)
  if (minute !== latest.text) latest = { text: minute, time: Date.parse(`${minute.replace(' ', 'T')}Z`) }
  return latest.time + Number(TS.slice(17, 19)) * 1000 + Number(TS.slice(20, 23))
}
