// `terrarium rewind --collection NAME --at TIME`: the documents of a collection as they were.

import { clientOptions, jsonOption } from '../client/options.ts'
import { command } from '../command.ts'
import { timeFault } from '../given-time.ts'

const { database, profile, secret, url } = clientOptions

/** Rewinds a collection to a time. */
export const rewindCommand = command({
  name: 'rewind',
  summary: 'Takes the documents of a collection back to a time in its history.',
  description: [
    'Documents that were deleted since are created again under their ids, changed ones get the data and the ttl that they had, ' +
      'and those that were created since are deleted. Each change is a new version: the history stays, and a rewind can be rewound.',
    'The command needs the root secret or an admin key. The work is done in batches, a transaction each. Readers may see the collection half done, and documents that others ' +
      'create meanwhile stay. A rewind that was interrupted continues with the same command.',
    'The history has to reach the time: history_days of the collection says how far, by default 30 days for collections of ' +
      'version 4 and 0 for those of version 10, and 15 minutes more. Where it does not, the command names the earliest possible time.',
  ],
  options: {
    collection: { kind: 'string', placeholder: 'NAME', doc: 'The collection.' },
    at: {
      kind: 'string',
      placeholder: 'TIME',
      check: timeFault,
      doc: 'The time, such as 2026-01-31T12:00:00Z, or the ts of a version in microseconds.',
    },
    dryRun: { kind: 'switch', doc: 'Counts what would be done and writes nothing.' },
    batch: {
      kind: 'integer',
      default: 500,
      min: 1,
      max: 10_000,
      doc: 'Documents of one transaction.',
    },
    ...jsonOption,
    profile,
    url,
    secret,
    database,
  },
  settings: ['data'],
  statuses: [[1, 'The history does not reach the time, the collection did not exist, or a batch failed.']],
  examples: [
    [
      'rewind --database shop --collection orders --at 2026-01-31T12:00:00Z --dry-run',
      'How many documents of ./data would change:',
    ],
  ],
  run: async ({ options, config }) => (await import('../actions/rewind.ts')).rewind(options, config),
})
