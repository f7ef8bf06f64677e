// What `terrarium import` and `terrarium export` ask of a running service, for admin keys of the database and the root
// secret: `POST /api/v1/transfer/write` writes a batch of documents as they are, hashes and times included; `missing`
// tells which documents are not there; `snapshot` and `page` read.

import {
  pageText,
  readMissingRequest,
  readPageRequest,
  readWriteRequest,
  transferPaths,
  writeResponse,
} from '../../transfer/messages.ts'
import { BadRecord, TransferError } from '../../transfer/record.ts'
import type { TransferService } from '../../transfer/service.ts'
import type { DatabaseId } from '../../values/value.ts'
import type { Answer } from '../answer.ts'
import type { EndpointCall } from '../call.ts'
import type { Endpoint, Services } from '../endpoint.ts'
import { edgeErrorBody, jsonAnswer, Refusal, refusing } from '../message-answer.ts'

/** The endpoints of imports and exports. */
export function transferEndpoints(services: Services, transfer: TransferService): readonly Endpoint[] {
  const endpoint = (
    path: string,
    handle: (database: DatabaseId, body: string) => Answer | Promise<Answer>,
  ): Endpoint => ({
    path,
    authenticated: false,
    errorBody: edgeErrorBody,
    readsBody: true,
    methods: {
      POST: call =>
        refusing(async () => {
          const database = await adminsDatabase(call, services)
          try {
            return await handle(database, call.body ?? '')
          } catch (error) {
            if (!(error instanceof BadRecord || error instanceof TransferError)) throw error
            throw new Refusal('bad request', error.message)
          }
        }),
    },
  })
  return [
    endpoint(transferPaths.write, async (database, body) => {
      const { options, records } = readWriteRequest(body)
      return jsonAnswer(200, writeResponse(await transfer.write(database, records, options)))
    }),
    endpoint(transferPaths.missing, (database, body) =>
      jsonAnswer(200, transfer.missing(database, readMissingRequest(body))),
    ),
    endpoint(transferPaths.snapshot, database => jsonAnswer(200, transfer.snapshot(database))),
    endpoint(transferPaths.page, (database, body) => ({
      ...jsonAnswer(200, undefined),
      body: pageText(transfer.page(database, readPageRequest(body))),
      contentType: 'text/plain; charset=utf-8',
    })),
  ]
}

/** The database of the caller, who has to be its admin. */
async function adminsDatabase(call: EndpointCall, { engine }: Services): Promise<DatabaseId> {
  const principal = await engine.whoIs(call.request.headers.authorization)
  if (!principal) throw new Refusal('unauthorized', 'The credential is unknown, has expired or was revoked.')
  if (!principal.isAdmin) {
    throw new Refusal(
      'forbidden',
      'Imports and exports need the root secret or an admin key of the database.',
    )
  }
  return principal.database
}
