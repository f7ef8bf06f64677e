// `terrarium migrate`: moves what a data directory holds into a database that several machines share, and back.

import { command } from '../command.ts'

const options = {
  back: {
    kind: 'switch',
    doc: 'Copies from the database to the data directory, which must be new or empty. Nodes may keep running, but their later writes are not copied.',
  },
} as const

/** Moves data between a folder and a shared store. */
export const migrateCommand = command({
  name: 'migrate',
  summary: 'Moves the data of a data directory to a database that several machines share, or back.',
  description: [
    'The service over the data directory has to be stopped. A migration that was interrupted goes on where it stopped when it is started again, in either direction; until the first has ended, no node starts on the database. The folder stays as it is.',
  ],
  options,
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  examples: [
    [
      'migrate --data ./data --store postgres://terrarium@db.example/terrarium',
      'Moves the folder ./data into the database:',
    ],
  ],
  run: async ({ config, options: { back } }) => (await import('../actions/migrate.ts')).migrate(config, back),
})
