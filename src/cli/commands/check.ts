// `terrarium check`: proves that a data directory is sound: every index entry has its document and the reverse,
// histories are in order, the change log covers them.

import { command } from '../command.ts'

/** Checks a data directory. */
export const checkCommand = command({
  name: 'check',
  summary: 'Checks the integrity of a data directory, or of a shared store.',
  description: [
    "Over a store that several machines share it checks the record, of which it makes a copy in the data directory meanwhile, and compares this node's own copy with it. The node may be running.",
  ],
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  statuses: [
    [0, 'The data directory is sound.'],
    [1, 'The check found errors, each a line of standard output, or could not run.'],
  ],
  run: async ({ config }) => (await import('../actions/check.ts')).check(config),
})
