// `terrarium schema pull|push FOLDER`: the schema of a database as files, one for each object.

import { clientOptions } from '../client/options.ts'
import { command } from '../command.ts'

const folderOperand = {
  name: 'FOLDER',
  doc: 'A folder of .fql files, or of .fsl files of version 10.',
} as const

const planOptions = {
  dryRun: { kind: 'switch', doc: 'Shows what would change, and changes nothing.' },
  yes: { kind: 'switch', short: 'y', doc: 'Does not ask before it changes anything.' },
} as const

/** Writes the schema of a database to files. */
export const schemaPullCommand = command({
  name: 'schema pull',
  summary: 'Writes the collections, indexes, functions, roles and access providers of a database to files.',
  description: [
    'Each object is a file of its own, such as indexes/users_by_email.fql with CreateIndex({…}) in it. A file that says ' +
      'the same already stays as it is, with its comments. Files of objects that the database does not have are named and ' +
      'left alone. Asks before it overwrites a file.',
    'Where the folder holds .fsl files the schema files of the database are written instead, as they are. Where it holds ' +
      'neither, that happens if the schema has something that only version 10 can say. --fql decides in any case.',
  ],
  operands: [folderOperand],
  options: {
    ...planOptions,
    fql: {
      kind: 'choice',
      choices: ['auto', '4', '10'],
      default: 'auto',
      doc: 'The version of the language: 4 writes .fql files, 10 writes .fsl files, auto what the folder or the database has.',
    },
    ...clientOptions,
  },
  settings: ['data'],
  examples: [['schema pull schema --database shop', 'From the folder ./data, which may be served or not:']],
  run: async ({ operands: [folder = ''], options, config }) =>
    (await import('../actions/schema.ts')).pullSchema(folder, options, config),
})

/** Makes the schema of a database that of files. */
export const schemaPushCommand = command({
  name: 'schema push',
  summary: 'Makes the schema of a database what the files of a folder say.',
  description: [
    'Shows what would change and asks. All changes are one transaction: either all happen or none. An index that sees ' +
      'other fields than before is deleted and built again. Objects that no file has stay, unless --delete is given.',
    'The folder may be one of the old schema-migrate tool: its files below fauna/resources count, its migrations do not. ' +
      'Resources in JavaScript are parsed and never run; those that would have to be run are named and left out.',
    'Where the folder holds .fsl files these alone are pushed, and the service says what would change. Files of the ' +
      'database that the folder does not have stay, unless --delete is given.',
  ],
  operands: [folderOperand],
  options: {
    ...planOptions,
    delete: {
      kind: 'switch',
      doc: 'Deletes objects that no file has, collections with their documents.',
    },
    ...clientOptions,
  },
  settings: ['data'],
  statuses: [
    [1, 'A change failed and nothing was changed, or the answer was no.'],
    [2, 'The command line or a file is wrong.'],
  ],
  examples: [['schema push schema --database shop --dry-run', 'What would change in the database shop:']],
  run: async ({ operands: [folder = ''], options, config }) =>
    (await import('../actions/schema.ts')).pushSchema(folder, options, config),
})
