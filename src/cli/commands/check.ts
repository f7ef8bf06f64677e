// `terrarium check`: checks the integrity of a data directory. Index entries match the documents, histories are in
// order, and the change log is complete.

import { command } from '../command.ts'

/** Checks a data directory. */
export const checkCommand = command({
  name: 'check',
  summary: 'Checks the integrity of a data directory, or of a shared store.',
  description: [
    "For a store that several machines share, it copies the record to the data directory temporarily, checks the copy, and compares it with this node's replica. The node may be running.",
  ],
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  statuses: [
    [0, 'The data directory is sound.'],
    [1, 'The check found errors, each a line of standard output, or could not run.'],
  ],
  run: async ({ config }) => (await import('../actions/check.ts')).check(config),
})
