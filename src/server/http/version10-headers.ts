// Request headers of version 10, and the form of the errors that the edge (the HTTP layer around the endpoints)
// returns. The protocol defines the names, the defaults, the order of checks and the texts. Only the first invalid
// header is reported.

import type { IncomingHttpHeaders } from 'node:http'
import { limits } from '../../base/limits.ts'
import { Message, msg } from '../../base/message.ts'
import { requestErrors } from '../../base/request-errors.ts'
import { eventErrorBody, requestErrorBody } from '../../fql10/wire/request-errors.ts'
import type { Protocol, RequestSettings } from './protocol.ts'
import { echoTags, parseTags } from './request-context.ts'
import { invalidHeader, readTransaction } from './request-headers.ts'

const formats: readonly string[] = ['simple', 'tagged', 'decorated']
const switches = ['x-typecheck', 'x-linearized', 'x-performance-hints'] as const

const transactionHeaders = {
  lastSeen: 'x-last-txn-ts',
  timeout: 'x-query-timeout-ms',
  retries: 'x-max-contention-retries',
}

function readSettings(headers: IncomingHttpHeaders): RequestSettings | Message {
  const header = (name: string) => headers[name] as string | undefined
  const transaction = readTransaction(headers, transactionHeaders, '10')
  if (transaction instanceof Message) return transaction
  const tags = parseTags(header('x-query-tags') ?? '')
  // The edge itself reports invalid tags. The next check is then skipped, so that only the tags are reported.
  const fault = typeof tags === 'string' ? undefined : faultOfChoices(header)
  if (fault !== undefined) return fault
  const echoed = typeof tags === 'string' ? '' : echoTags(tags)
  return {
    ...transaction,
    linearized: header('x-linearized')?.toLowerCase() === 'true',
    options: {
      format: header('x-format') ?? 'simple',
      ...(header('x-typecheck') !== undefined && {
        typecheck: header('x-typecheck')?.toLowerCase() as string,
      }),
      ...(header('x-performance-hints')?.toLowerCase() === 'true' && { hints: 'true' }),
      ...(echoed !== '' && { tags: echoed }),
    },
  }
}

function faultOfChoices(header: (name: string) => string | undefined): Message | undefined {
  const format = header('x-format')
  if (format !== undefined && !formats.includes(format)) {
    return invalidHeader('x-format', msg`Invalid format ${format}`)
  }
  for (const name of switches) {
    const value = header(name)?.toLowerCase()
    if (value !== undefined && value !== 'true' && value !== 'false') {
      return invalidHeader(name, msg`Must be a boolean value.`)
    }
  }
  return undefined
}

/** Stands for the tags header of feeds, which have no tags. No header has this name. */
const noHeader = ''

/**
 * Transaction time, costs and tags are in the body of the response. Requests with other methods are handled like
 * `POST`.
 */
export const version10Protocol: Protocol = {
  language: '10',
  queryPath: '/query/1',
  queryMethods: ['POST'],
  takesAnyMethod: true,
  readSettings,
  tagHeader: 'x-query-tags',
  hasQueryHeaders: false,
  errorBody: requestErrorBody,
  errorCode: code => requestErrors[code].version10,
}

/** Requests that check a query have the same headers as queries. */
export const checkProtocol: Protocol = {
  ...version10Protocol,
  readSettings(headers) {
    const settings = readSettings(headers)
    if (settings instanceof Message) return settings
    return { ...settings, options: { ...settings.options, endpoint: 'check' } }
  },
}

/** For requests to feeds, only the headers for the transaction are read. */
export const feedProtocol: Protocol = {
  ...version10Protocol,
  queryPath: '/feed/1',
  readSettings: headers => {
    const transaction = readTransaction(headers, transactionHeaders, '10')
    if (transaction instanceof Message) return msg`Invalid headers: ${transaction}`
    return { ...transaction, options: { endpoint: 'feed' } }
  },
  tagHeader: noHeader,
  challenges: false,
  errorBody: eventErrorBody,
}

/** For requests to streams, only the credential is read. */
export const eventStreamProtocol: Protocol = {
  ...feedProtocol,
  queryPath: '/stream/1',
  readSettings: () => ({
    dialect: '10',
    lastSeenTxn: undefined,
    retriesMax: undefined,
    timeoutMs: limits.queryTimeoutDefaultMs,
    options: { endpoint: 'stream' },
  }),
}
