// The options of the commands that send queries, apart from their actions, so that `--help` does not load the actions.

import { urlFault } from '../../app/config/faults.ts'
import type { Invocation } from '../command.ts'

const timeoutMaxMs = 3_600_000

export const clientOptions = {
  profile: {
    kind: 'string',
    placeholder: 'NAME',
    fromEnvironment: true,
    doc: 'A service stored with `profile add`. Its address, secret and database are used where no flag is given.',
  },
  url: {
    kind: 'string',
    placeholder: 'URL',
    check: urlFault,
    fromEnvironment: true,
    doc: 'The address of the service; by default the service on the data directory, which is started if it is not running.',
  },
  secret: {
    kind: 'string',
    placeholder: 'SECRET',
    fromEnvironment: true,
    doc: 'The secret of a key or token. Prefer the environment variable: other users of the machine can see flags. By default the root secret of the data directory.',
  },
  database: {
    kind: 'string',
    placeholder: 'PATH',
    doc: 'A database below that of the secret, such as shop or shop/test.',
  },
  as: {
    kind: 'string',
    placeholder: 'WHO',
    doc: 'Runs with the rights of admin, server, server-readonly, client, @role/NAME or @doc/COLLECTION/ID. An admin key may use all of them.',
  },
  timeout: {
    kind: 'integer',
    min: 1,
    max: timeoutMaxMs,
    placeholder: 'MS',
    doc: 'Time limit of each query in milliseconds; by default the limit of the service.',
  },
} as const

export const jsonOption = {
  json: { kind: 'switch', doc: 'Prints JSON.' },
} as const

export const languageOption = {
  fql: {
    kind: 'choice',
    choices: ['4', '10'],
    default: '4',
    doc: 'The version of the language: 4, or 10, in which the whole text is one query.',
  },
} as const

export type ClientChoice = Invocation<typeof clientOptions>['options']

/** Exit statuses of the commands that run query texts. */
export const runStatuses = [
  [0, 'All queries succeeded.'],
  [1, 'A query failed, or the service could not be reached; later queries were not run.'],
  [2, 'The command line or the text of a query is invalid; nothing was run.'],
] as const
