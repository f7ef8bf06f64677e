// `terrarium account-key create|list|revoke`: the keys of log pipelines.

import { limits } from '../../limits.ts'
import { command } from '../command.ts'

/** Makes an account key. */
export const createAccountKeyCommand = command({
  name: 'account-key create',
  summary: 'Makes an account key, with which log pipelines export the query log.',
  options: {
    name: {
      kind: 'string',
      doc: 'Unique name of the key. Required.',
    },
    ttlDays: {
      kind: 'integer',
      min: 1,
      max: limits.accountKeyDaysMax,
      placeholder: 'N',
      doc: 'Days until it expires; without it, never.',
    },
    regionGroup: {
      kind: 'string',
      multiple: true,
      doc: 'A region group that the key is for; without one, all.',
    },
  },
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  run: async ({ options, config }) => (await import('../actions/account-key.ts')).createKey(options, config),
})

/** Lists account keys. */
export const listAccountKeysCommand = command({
  name: 'account-key list',
  summary: 'Lists the account keys, a line each.',
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  run: async ({ config }) => (await import('../actions/account-key.ts')).listKeys(config),
})

/** Revokes an account key. */
export const revokeAccountKeyCommand = command({
  name: 'account-key revoke',
  summary: 'Revokes an account key.',
  operands: [{ name: 'ID', doc: 'The id of the key, as the list shows it.' }],
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  run: async ({ operands: [id = ''], config }) =>
    (await import('../actions/account-key.ts')).revokeKey(id, config),
})
