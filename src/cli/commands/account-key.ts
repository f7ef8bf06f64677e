// `terrarium account-key create|list|revoke`: the keys of log pipelines.

import { limits } from '../../base/limits.ts'
import { jsonOption } from '../client/options.ts'
import { command } from '../command.ts'

/** Creates an account key. */
export const createAccountKeyCommand = command({
  name: 'account-key create',
  summary: 'Creates an account key, which log pipelines use to export the query log.',
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
      doc: 'Days until the key expires; by default it never expires.',
    },
    regionGroup: {
      kind: 'string',
      multiple: true,
      doc: 'A region group of the key; by default all.',
    },
  },
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  run: async ({ options, config }) => (await import('../actions/account-key.ts')).createKey(options, config),
})

/** Lists account keys. */
export const listAccountKeysCommand = command({
  name: 'account-key list',
  summary: 'Lists the account keys, one per line.',
  options: jsonOption,
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  run: async ({ options, config }) => (await import('../actions/account-key.ts')).listKeys(options, config),
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
