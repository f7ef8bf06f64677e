// `terrarium each SET FUNCTION`: a change of many documents.

import { clientOptions } from '../client/options.ts'
import { command } from '../command.ts'

/** Applies a function to all elements of a set. */
export const eachCommand = command({
  name: 'each',
  summary: 'Applies a function to every document of a set, in batches.',
  description: [
    'Both expressions are of version 10: a set, and a function of one of its elements. Each page of the set is one transaction. ' +
      'Readers may see the change half done.',
    'With --cursor the place after each page is kept in a file, which is removed at the end. After an error or an interruption ' +
      'the same command continues at that place. The last page before a crash may be changed twice, so the function ' +
      'should be one that may run again.',
    'Pages show the set as it was at the first page, and the documents as they are. The place is valid as long as the history of ' +
      'the collection reaches that time: history_days, and 15 minutes more.',
  ],
  operands: [
    { name: 'SET', doc: 'A set, such as Orders.where(.status == "open").' },
    { name: 'FUNCTION', doc: 'What to do with each element, such as d => d.update({ status: "done" }).' },
  ],
  options: {
    batch: { kind: 'integer', default: 500, min: 1, max: 10_000, doc: 'Documents of one transaction.' },
    cursor: { kind: 'path', placeholder: 'FILE', doc: 'Keeps the place in a file, to continue from it.' },
    dryRun: { kind: 'switch', doc: 'Counts the elements and changes nothing.' },
    ...clientOptions,
  },
  settings: ['data'],
  statuses: [[1, 'A page failed or the service could not be reached; pages before it are changed.']],
  examples: [
    [
      `each 'Orders.where(.isOpen)' 'd => d.update({ isOpen: false })' --cursor open.cursor`,
      'Closes all open orders of ./data:',
    ],
  ],
  run: async ({ operands: [set = '', each = ''], options, config }) =>
    (await import('../actions/each.ts')).changeEach(set, each, options, config),
})
