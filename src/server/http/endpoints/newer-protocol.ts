// The paths of version 10 that are not there yet. Its clients are told so in the shape in which they read errors; without
// it they report that the response makes no sense.

import type { Answer } from '../answer.ts'
import { jsonAnswer } from '../api.ts'
import type { Endpoint } from '../endpoint.ts'

const paths = ['/environment/1', '/export/1', '/export/1/*']

const message =
  'This service does not have this path of version 10: queries go to /query/1, schema files to /schema/1.'

/** A code that version 10 clients know: a request that is never worth another attempt. */
function refusal(): Answer {
  return jsonAnswer(400, { error: { code: 'invalid_request', message }, summary: '' })
}

/** One endpoint for each path of the newer protocol; whatever is sent there gets the same 400. */
export function newerProtocolEndpoints(): readonly Endpoint[] {
  return paths.map(path => ({ path, methods: {}, otherMethods: refusal }))
}
