// `terrarium database create|list|delete`.

import { clientOptions, jsonOption } from '../client/options.ts'
import { command } from '../command.ts'

/** Creates a database. */
export const createDatabaseCommand = command({
  name: 'database create',
  summary: "Creates a database below the secret's database.",
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
  summary: "Lists the databases in the secret's database.",
  options: { ...jsonOption, ...clientOptions },
  settings: ['data'],
  run: async ({ options, config }) => (await import('../actions/database.ts')).listDatabases(options, config),
})

/** Deletes a database. */
export const deleteDatabaseCommand = command({
  name: 'database delete',
  summary: 'Deletes a database with all its content.',
  operands: [{ name: 'NAME', doc: 'The name of the database.' }],
  options: { yes: { kind: 'switch', doc: 'Deletes without confirmation.' }, ...clientOptions },
  settings: ['data'],
  run: async ({ operands: [name = ''], options, config }) =>
    (await import('../actions/database.ts')).deleteDatabase(name, options, config),
})
