// `GET /environment/1` returns the static types of a database: its global names, and the fields of all types. Editors
// use them for completion.

import { Message } from '../../../base/message.ts'
import { environmentErrorBody, environmentOptions } from '../../../fql10/wire/environment-request.ts'
import type { Endpoint, Services } from '../endpoint.ts'
import type { Protocol } from '../protocol.ts'
import { version10Protocol } from '../version10-headers.ts'

const protocol: Protocol = {
  ...version10Protocol,
  readSettings(headers) {
    const settings = version10Protocol.readSettings(headers)
    return settings instanceof Message ? settings : { ...settings, options: environmentOptions }
  },
  errorBody: environmentErrorBody,
}

export function environmentEndpoint({ engine }: Services): Endpoint {
  return {
    path: '/environment/1',
    protocol,
    authenticated: true,
    recorded: true,
    methods: { GET: call => engine.query(call.queryRequest(''), call.ticket) },
  }
}
