// `terrarium rewind --collection NAME --at TIME`: restores the documents of a collection to a time.

import { clientOptions, jsonOption } from '../client/options.ts'
import { command } from '../command.ts'
import { timeFault } from '../time-argument.ts'

const { database, profile, secret, url } = clientOptions

/** Rewinds a collection to a time. */
export const rewindCommand = command({
  name: 'rewind',
  summary: 'Restores the documents of a collection to a time in its history.',
  description: [
    'Documents that were deleted since that time are created again with their ids, changed ones get their old data and ttl back, ' +
      'and those that were created since are deleted. Each change is a new version: the history stays, and a rewind can be undone.',
    'The command needs the root secret or an admin key. It works in batches, one transaction each. Readers may see a part of the ' +
      'changes, and documents that are created meanwhile stay. To continue an interrupted rewind, run the same command again.',
    'The history must contain the time. Its length is history_days of the collection (by default 30 days for collections of ' +
      'version 4 and 0 for those of version 10) and 15 minutes more. If it is too short, the command prints the earliest possible time.',
  ],
  options: {
    collection: { kind: 'string', placeholder: 'NAME', doc: 'The collection.' },
    at: {
      kind: 'string',
      placeholder: 'TIME',
      check: timeFault,
      doc: 'The time, such as 2026-01-31T12:00:00Z, or the ts of a version in microseconds.',
    },
    dryRun: { kind: 'switch', doc: 'Counts the changes and writes nothing.' },
    batch: {
      kind: 'integer',
      default: 500,
      min: 1,
      max: 10_000,
      doc: 'Documents per transaction.',
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
      'Counts the documents of ./data that would change:',
    ],
  ],
  run: async ({ options, config }) => (await import('../actions/rewind.ts')).rewind(options, config),
})
