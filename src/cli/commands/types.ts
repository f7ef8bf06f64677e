// `terrarium types [FOLDER]`: TypeScript declarations of a schema.

import { clientOptions } from '../client/options.ts'
import { command } from '../command.ts'
import { clientPackages } from '../types/value-classes.ts'

/** Options of the commands that write declarations. */
export const typesOptions = {
  client: {
    kind: 'choice',
    choices: clientPackages,
    default: 'terrarium-client',
    doc: 'The client whose classes represent dates, references and other values without a type in JavaScript.',
  },
} as const

/** Writes TypeScript declarations of a schema. */
export const typesCommand = command({
  name: 'types',
  summary:
    'Writes TypeScript declarations of a schema: documents, inputs of create and update, indexes, functions.',
  description: [
    'The schema comes from the .fsl files of a folder, or without a folder from a database of a service. For a ' +
      'collection Product there are Product (a document), NewProduct (the input of create), ProductChanges (the input of update) ' +
      'and ProductIndexes. Collections and Functions list all collections and functions by name. Fields without a type are ' +
      'unknown, and documents of collections without declared fields may have any fields.',
    'Queries are not checked: a declaration only asserts the type of a result.',
  ],
  operands: [
    {
      name: 'FOLDER',
      doc: 'A folder of .fsl files; the command then sends no request to a service.',
      optional: true,
    },
  ],
  options: {
    out: {
      kind: 'path',
      placeholder: 'FILE',
      doc: 'Writes to a file if its content changes; by default to standard output.',
    },
    watch: {
      kind: 'switch',
      doc: 'Runs until it is stopped, and writes the file again after each change of the schema. Needs --out.',
    },
    ...typesOptions,
    ...clientOptions,
  },
  settings: ['data'],
  statuses: [
    [1, 'The service could not be reached, or a file cannot be written.'],
    [2, 'The command line or a schema file is invalid; nothing was written.'],
  ],
  examples: [
    ['types schema --out src/schema.ts', 'From the files of a folder:'],
    [
      'types --database shop --out src/schema.ts --watch',
      'From a database of ./data, after each change of its schema:',
    ],
  ],
  run: async ({ operands: [folder], options, config }) =>
    (await import('../actions/types.ts')).writeTypes(folder, options, config),
})
