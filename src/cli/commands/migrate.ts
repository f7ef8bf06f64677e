// `terrarium migrate`: moves the data of a data directory to a database that several machines share, or back.

import { command } from '../command.ts'

const options = {
  back: {
    kind: 'switch',
    doc: 'Copies from the database to the data directory, which must be new or empty. Nodes may keep running, but their later writes are not copied.',
  },
} as const

/** Moves data between a data directory and a shared store. */
export const migrateCommand = command({
  name: 'migrate',
  summary: 'Moves the data of a data directory to a database that several machines share, or back.',
  description: [
    'The service on the data directory must be stopped. To continue an interrupted migration, in either direction, run the command again; until a migration to the database is complete, no node starts on it. The data directory stays unchanged.',
  ],
  options,
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  examples: [
    [
      'migrate --data ./data --store postgres://terrarium@db.example/terrarium',
      'Moves the data of ./data to the database:',
    ],
  ],
  run: async ({ config, options: { back } }) => (await import('../actions/migrate.ts')).migrate(config, back),
})
