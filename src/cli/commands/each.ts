// `terrarium each SET FUNCTION`: changes many documents.

import { clientOptions } from '../client/options.ts'
import { command } from '../command.ts'

/** Applies a function to all elements of a set. */
export const eachCommand = command({
  name: 'each',
  summary: 'Applies a function to every document of a set, in batches.',
  description: [
    'Both arguments are expressions of version 10: a set, and a function of one element. Each page of the set is one transaction, ' +
      'so readers may see a part of the changes.',
    'With --cursor, the command stores its progress after each page in a file, and removes the file at the end. After an error or ' +
      'an interruption, run the same command again to continue. The last page before a crash may be changed twice, so the ' +
      'function should give the same result when it runs twice.',
    'Pages contain the elements that the set had at the first page, and the current documents. The progress is valid while the ' +
      "collection's history contains the time of the first page: history_days, and 15 minutes more.",
  ],
  operands: [
    { name: 'SET', doc: 'A set, such as Orders.where(.status == "open").' },
    { name: 'FUNCTION', doc: 'The change of each element, such as d => d.update({ status: "done" }).' },
  ],
  options: {
    batch: { kind: 'integer', default: 500, min: 1, max: 10_000, doc: 'Documents per transaction.' },
    cursor: {
      kind: 'path',
      placeholder: 'FILE',
      doc: 'File for the progress, from which the command can continue.',
    },
    dryRun: { kind: 'switch', doc: 'Counts the elements and changes nothing.' },
    ...clientOptions,
  },
  settings: ['data'],
  statuses: [[1, 'A page failed or the service could not be reached; earlier pages are changed.']],
  examples: [
    [
      `each 'Orders.where(.isOpen)' 'd => d.update({ isOpen: false })' --cursor open.cursor`,
      'Closes all open orders of ./data:',
    ],
  ],
  run: async ({ operands: [set = '', each = ''], options, config }) =>
    (await import('../actions/each.ts')).changeEach(set, each, options, config),
})
