// The paths of the protocol that came after this one (version 10 of the query language). Its clients are told what
// they have reached, in the shape in which they read errors; without it they report that the response makes no sense.

import type { Answer } from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import { jsonAnswer } from '../message-answer.ts'

const paths = [
  '/query/1',
  '/stream/1',
  '/feed/1',
  '/environment/1',
  '/schema/1',
  '/schema/1/*',
  '/export/1',
  '/export/1/*',
]

const message =
  'This service speaks version 4 of the query language; this path belongs to version 10, which it does not speak. ' +
  'Use a driver for version 4: the npm package "faunadb", "faunadb" for Python, "faunadb-go/v5" and their like.'

/** A code that version 10 clients know: a request that is never worth another attempt. */
function refusal(): Answer {
  return jsonAnswer(400, { error: { code: 'invalid_request', message }, summary: '' })
}

/** One endpoint for each path of the newer protocol; whatever is sent there gets the same 400. */
export function newerProtocolEndpoints(): readonly Endpoint[] {
  return paths.map(path => ({ path, authenticated: false, methods: {}, otherMethods: refusal }))
}
