// Request headers of GraphQL, the secret in the header `authorization`, and the form of the errors that the edge (the
// HTTP layer around the endpoints) returns. Requests carry no API version, so they have the default API version.

import { defaultApiVersion } from '../../fql4/wire/version.ts'
import { requestErrorBody, requestErrorText } from '../../graphql/wire/errors.ts'
import type { Protocol } from './protocol.ts'
import { readTransaction } from './request-headers.ts'

const transactionHeaders = {
  lastSeen: 'x-last-seen-txn',
  timeout: 'x-query-timeout',
  retries: 'x-max-retries-on-contention',
}

export const graphqlProtocol: Protocol = {
  language: 'graphql',
  queryPath: '/graphql',
  queryMethods: ['GET', 'POST'],
  readSettings: headers => readTransaction(headers, transactionHeaders, defaultApiVersion),
  tagHeader: 'x-fauna-tags',
  hasQueryHeaders: true,
  challenges: false,
  errorBody: requestErrorBody,
}

export const textType = 'text/plain; charset=utf-8'

/** The results and errors of `/import` are plain text. */
export const importProtocol: Protocol = {
  ...graphqlProtocol,
  queryPath: '/import',
  errorBody: requestErrorText,
  errorType: textType,
}

const credentialForm = /^(bearer|basic) +(\S+) *$/i

/** Returns undefined if the header has no valid form. Does not check the secret. */
export function secretIn(authorization: string): string | undefined {
  const [, scheme = '', given] = credentialForm.exec(authorization) ?? []
  if (given === undefined || scheme.toLowerCase() === 'bearer') return given
  return Buffer.from(given, 'base64').toString().replace(/:$/, '')
}
