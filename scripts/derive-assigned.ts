// Writes src/values/assigned-data.ts: the characters that are assigned in the runtime's version of Unicode. Run the
// script only together with a new version of the data format, because stored data depends on the table.
//
//     npx node scripts/derive-assigned.ts

import { writeFileSync } from 'node:fs'
import { readOptions } from './command-line.ts'

readOptions({
  usage:
    'npx node scripts/derive-assigned.ts\n\nWrites src/values/assigned-data.ts, for a new version of the data format.',
  options: {},
})

const end = 0x110000
const isAssigned = (point: number) => point < end && /\p{Assigned}/u.test(String.fromCodePoint(point))

/** Returns the lengths of unassigned and assigned runs of code points, in turns. */
function runs(): readonly number[] {
  const lengths: number[] = []
  let from = 0
  for (let point = 0; point <= end; point++) {
    if (isAssigned(point) === (lengths.length % 2 === 1)) continue
    lengths.push(point - from)
    from = point
  }
  return lengths
}

const text = `// Written by scripts/derive-assigned.ts; never edit. Derived from Unicode ${process.versions.unicode}.
// Stored data depends on this table: a different table needs a new version of the data format.

/** Lengths of runs of code points in base 36: unassigned and assigned ones in turns, from 0 on. */
export const assignedRuns =
  '${runs()
    .map(length => length.toString(36))
    .join(' ')}'
`
writeFileSync(new URL('../src/values/assigned-data.ts', import.meta.url), text)
