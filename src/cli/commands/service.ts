// Commands that run the service: `serve` until a signal stops it, `dev` for development with the schema of a folder.

import { type SettingName, settings } from '../../app/config/settings.ts'
import { type Command, command } from '../command.ts'
import { typesOptions } from './schema.ts'

export const serveCommand = command({
  name: 'serve',
  summary: 'Serves the database until SIGTERM or SIGINT, then finishes the requests in flight.',
  description: [
    'Standard output gets one line, with the address, when the service is ready; all other output is log lines on ' +
      'standard error.',
  ],
  // The names are the keys of `settings`.
  settings: Object.keys(settings) as SettingName[],
  statuses: [
    [0, 'A signal stopped the service.'],
    [1, 'The service could not start, or a worker could not; standard error has the reason.'],
    [74, 'The outcome of a write is unknown, for example because the disk failed. Start the service again.'],
    [75, 'The replica of a node was discarded. The next start rebuilds it.'],
  ],
  examples: [
    ['serve --port 8443 --data ./data', 'Serves the data directory ./data, which is created if missing:'],
  ],
  run: async ({ config }) => (await import('../actions/serve.ts')).serve(config),
})

const devCommand = command({
  name: 'dev',
  summary: 'Serves the database, and pushes the schema files of a folder after each change.',
  description: [
    'Pushes the .fsl files of the folder at the start and after every change, writes TypeScript declarations with --out, and ' +
      'shows errors with their positions. The files are the whole schema: objects that are in no file are deleted. A change that ' +
      'would delete a collection with its documents is shown but not made, unless --delete is given. Renaming a collection in a file ' +
      'counts as such a change.',
    'For development on one machine; use serve and schema push elsewhere.',
  ],
  operands: [{ name: 'FOLDER', doc: 'A folder of .fsl files. The default is "schema".', optional: true }],
  options: {
    out: {
      kind: 'path',
      placeholder: 'FILE',
      doc: 'Writes TypeScript declarations of the schema, like the command types.',
    },
    ...typesOptions,
    database: {
      kind: 'string',
      placeholder: 'PATH',
      doc: 'The database for the schema, such as shop or shop/test, created if missing; by default the root database.',
    },
    delete: {
      kind: 'switch',
      doc: 'Also deletes collections that are in no file, with their documents.',
    },
  },
  settings: Object.keys(settings) as SettingName[],
  examples: [['dev --out src/schema.ts', 'Serve ./data with the schema of ./schema:']],
  run: async ({ operands: [folder = 'schema'], options, config }) =>
    (await import('../actions/dev.ts')).develop(folder, options, config),
})

export const serviceCommands: readonly Command[] = [serveCommand, devCommand]
