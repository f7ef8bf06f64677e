// `terrarium database create|list|delete`.

import { clientOptions, jsonOption } from '../client/options.ts'
import { command } from '../command.ts'

/** Makes a database. */
export const createDatabaseCommand = command({
  name: 'database create',
  summary: 'Makes a database below the one that the secret opens.',
  operands: [{ name: 'NAME', doc: 'The name of the database.' }],
  options: clientOptions,
  settings: ['data'],
  examples: [['database create test --database shop', 'In the database shop of ./data:']],
  run: async ({ operands: [name = ''], options, config }) =>
    (await import('../actions/database.ts')).createDatabase(name, options, config),
})

/** Lists databases. */
export const listDatabasesCommand = command({
  name: 'database list',
  summary: 'Lists the databases in the one that the secret opens.',
  options: { ...jsonOption, ...clientOptions },
  settings: ['data'],
  run: async ({ options, config }) => (await import('../actions/database.ts')).listDatabases(options, config),
})

/** Deletes a database. */
export const deleteDatabaseCommand = command({
  name: 'database delete',
  summary: 'Deletes a database with everything in it.',
  operands: [{ name: 'NAME', doc: 'The name of the database.' }],
  options: { yes: { kind: 'switch', doc: 'Deletes without a question.' }, ...clientOptions },
  settings: ['data'],
  run: async ({ operands: [name = ''], options, config }) =>
    (await import('../actions/database.ts')).deleteDatabase(name, options, config),
})
