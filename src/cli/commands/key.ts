// `terrarium key create|list|delete`.

import { clientOptions, jsonOption } from '../client/options.ts'
import { command } from '../command.ts'

/** Creates a key. */
export const createKeyCommand = command({
  name: 'key create',
  summary: 'Creates a key of a database and prints its secret.',
  description: ['The secret goes to standard output, everything else to standard error.'],
  options: {
    role: {
      kind: 'string',
      placeholder: 'ROLE',
      doc: 'The role of the key: admin, server, server-readonly, client, or the name of a role. Required.',
    },
    name: { kind: 'string', doc: 'A name for the list of keys.' },
    ...jsonOption,
    ...clientOptions,
  },
  settings: ['data'],
  examples: [['key create --role server --database shop', 'A key of the database shop of ./data:']],
  run: async ({ options, config }) => (await import('../actions/key.ts')).createKey(options, config),
})

/** Lists keys. */
export const listKeysCommand = command({
  name: 'key list',
  summary: 'Lists the keys of a database, without their secrets.',
  options: { ...jsonOption, ...clientOptions },
  settings: ['data'],
  run: async ({ options, config }) => (await import('../actions/key.ts')).listKeys(options, config),
})

/** Deletes a key. */
export const deleteKeyCommand = command({
  name: 'key delete',
  summary: 'Deletes a key; its secret becomes invalid at once.',
  operands: [{ name: 'ID', doc: 'The id of the key, as the list shows it.' }],
  options: clientOptions,
  settings: ['data'],
  run: async ({ operands: [id = ''], options, config }) =>
    (await import('../actions/key.ts')).deleteKey(id, options, config),
})
