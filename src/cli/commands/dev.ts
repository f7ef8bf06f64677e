// `terrarium dev [FOLDER]`: a service for the work on an application, with the schema of a folder.

import { type SettingName, settings } from '../../app/config/settings.ts'
import { command } from '../command.ts'
import { typesOptions } from './types.ts'

/** Serves, and keeps schema and declarations what the files of a folder say. */
export const devCommand = command({
  name: 'dev',
  summary: 'Serves the database, and pushes the schema files of a folder after each change.',
  description: [
    'Pushes the .fsl files of the folder at the start and after every change, writes TypeScript declarations with --out, and ' +
      'shows errors with their place. The files are the whole schema: what they do not have is removed. A change that would ' +
      'delete a collection with its documents is shown and not made, unless --delete is given: a name that is changed in ' +
      'a file is another collection.',
    'For work on one machine; use serve and schema push elsewhere.',
  ],
  operands: [{ name: 'FOLDER', doc: 'A folder of .fsl files; schema when absent.', optional: true }],
  options: {
    out: {
      kind: 'path',
      placeholder: 'FILE',
      doc: 'Writes TypeScript declarations of the schema, as the command types does.',
    },
    ...typesOptions,
    database: {
      kind: 'string',
      placeholder: 'PATH',
      doc: 'The database that gets the schema, such as shop or shop/test, created if missing; without it the root database.',
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
