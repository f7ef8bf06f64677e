// Commands for databases and access; `terrarium account-key` is for the keys of log pipelines, and `terrarium profile`
// for named services.

import { limits } from '../../base/limits.ts'
import { clientOptions, jsonOption } from '../client/options.ts'
import { type Command, command } from '../command.ts'

const { database, secret, url } = clientOptions

export const accessCommands: readonly Command[] = [
  command({
    name: 'database create',
    summary: "Creates a database below the secret's database.",
    operands: [{ name: 'NAME', doc: 'The name of the database.' }],
    options: clientOptions,
    settings: ['data'],
    examples: [['database create test --database shop', 'In the database shop of ./data:']],
    run: async ({ operands: [name = ''], options, config }) =>
      (await import('../actions/databases-and-keys.ts')).createDatabase(name, options, config),
  }),
  command({
    name: 'database list',
    summary: "Lists the databases in the secret's database.",
    options: { ...jsonOption, ...clientOptions },
    settings: ['data'],
    run: async ({ options, config }) =>
      (await import('../actions/databases-and-keys.ts')).listDatabases(options, config),
  }),
  command({
    name: 'database delete',
    summary: 'Deletes a database with all its content.',
    operands: [{ name: 'NAME', doc: 'The name of the database.' }],
    options: { yes: { kind: 'switch', doc: 'Deletes without confirmation.' }, ...clientOptions },
    settings: ['data'],
    statuses: [[1, 'The deletion failed, or the user declined.']],
    run: async ({ operands: [name = ''], options, config }) =>
      (await import('../actions/databases-and-keys.ts')).deleteDatabase(name, options, config),
  }),
  command({
    name: 'key create',
    summary: 'Creates a key of a database and prints its secret.',
    description: ['The secret goes to standard output, everything else to standard error.'],
    options: {
      role: {
        kind: 'string',
        placeholder: 'ROLE',
        doc: 'The role of the key: admin, server, server-readonly, client, or the name of a role. Required.',
      },
      name: { kind: 'string', doc: 'A name for the key, shown in the list of keys.' },
      ...jsonOption,
      ...clientOptions,
    },
    settings: ['data'],
    examples: [['key create --role server --database shop', 'A key of the database shop of ./data:']],
    run: async ({ options, config }) =>
      (await import('../actions/databases-and-keys.ts')).createKey(options, config),
  }),
  command({
    name: 'key list',
    summary: 'Lists the keys of a database, without their secrets.',
    options: { ...jsonOption, ...clientOptions },
    settings: ['data'],
    run: async ({ options, config }) =>
      (await import('../actions/databases-and-keys.ts')).listKeys(options, config),
  }),
  command({
    name: 'key delete',
    summary: 'Deletes a key; its secret becomes invalid at once.',
    operands: [{ name: 'ID', doc: 'The id of the key, as the list shows it.' }],
    options: clientOptions,
    settings: ['data'],
    run: async ({ operands: [id = ''], options, config }) =>
      (await import('../actions/databases-and-keys.ts')).deleteKey(id, options, config),
  }),
  command({
    name: 'profile add',
    summary: 'Stores the address and the secret of a service under a name, for --profile.',
    description: [
      'Profiles are stored in $XDG_CONFIG_HOME/terrarium/profiles.json (by default below ~/.config), which only its owner can read; ' +
        'TERRARIUM_PROFILES names another file. Flags override a profile, and a profile overrides the environment.',
    ],
    operands: [{ name: 'NAME', doc: 'The name of the profile; an existing one is replaced.' }],
    options: {
      url: { ...url, doc: 'The address of the service. Required.' },
      secret: {
        ...secret,
        doc: 'The secret of a key or token. Required. Prefer the environment variable: other users of the machine can see flags.',
      },
      database,
    },
    examples: [
      ['profile add production --url https://db.example.org', 'With the secret in TERRARIUM_SECRET:'],
      [`eval --profile production 'Now()'`, 'On that service:'],
    ],
    run: async ({ operands: [name = ''], options }) =>
      (await import('../actions/profile.ts')).addProfile(name, options),
  }),
  command({
    name: 'profile list',
    summary: 'Lists the profiles, without their secrets.',
    options: jsonOption,
    run: async ({ options }) => (await import('../actions/profile.ts')).listProfiles(options),
  }),
  command({
    name: 'profile delete',
    summary: 'Deletes a profile.',
    operands: [{ name: 'NAME', doc: 'The name of the profile.' }],
    run: async ({ operands: [name = ''] }) => (await import('../actions/profile.ts')).deleteProfile(name),
  }),
  command({
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
    run: async ({ options, config }) =>
      (await import('../actions/account-key.ts')).createKey(options, config),
  }),
  command({
    name: 'account-key list',
    summary: 'Lists the account keys, one per line.',
    options: jsonOption,
    settings: ['data', 'store', 'storeSchema', 'logLevel'],
    run: async ({ options, config }) => (await import('../actions/account-key.ts')).listKeys(options, config),
  }),
  command({
    name: 'account-key revoke',
    summary: 'Revokes an account key.',
    operands: [{ name: 'ID', doc: 'The id of the key, as the list shows it.' }],
    settings: ['data', 'store', 'storeSchema', 'logLevel'],
    run: async ({ operands: [id = ''], config }) =>
      (await import('../actions/account-key.ts')).revokeKey(id, config),
  }),
]
