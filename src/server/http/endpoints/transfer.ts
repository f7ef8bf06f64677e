// The endpoints for `terrarium import` and `terrarium export` on a running service. Requests need the root secret or an
// admin key of the database. `POST /api/v1/transfer/write` writes a batch of documents (with their times) and
// credentials (with their password hashes). `missing` returns which of the given documents do not exist. `snapshot` and
// `page` read documents for an export. Requests are counted, limited and recorded like queries.

import { limits } from '../../../base/limits.ts'
import { msg } from '../../../base/message.ts'
import type { OnCosts } from '../../../transfer/batch-writer.ts'
import {
  pageText,
  readMissingRequest,
  readPageRequest,
  readWriteRequest,
  transferPaths,
  writeResponse,
} from '../../../transfer/messages.ts'
import { BadRecord, TransferError } from '../../../transfer/record.ts'
import type { TransferService } from '../../../transfer/service.ts'
import type { DatabaseId } from '../../../values/value.ts'
import { type Answer, idleMetrics } from '../answer.ts'
import { apiTraits, jsonAnswer, MessageError, principalOf } from '../api.ts'
import type { Endpoint, EndpointCall, Services } from '../endpoint.ts'

/** Handles a request for a database. `onCosts` is called after each transaction. */
type Handle = (database: DatabaseId, body: string, onCosts: OnCosts) => Answer | Promise<Answer>

/** The endpoints of imports and exports. */
export function transferEndpoints(services: Services, transfer: TransferService): readonly Endpoint[] {
  const endpoint = (path: string, handle: Handle): Endpoint => ({
    ...apiTraits,
    path,
    readsBody: true,
    recorded: true,
    methods: { POST: call => answer(call, services, handle) },
  })
  return [
    endpoint(transferPaths.write, async (database, body, onCosts) => {
      const { options, records } = readWriteRequest(body)
      return jsonAnswer(200, writeResponse(await transfer.write(database, records, options, onCosts)))
    }),
    endpoint(transferPaths.missing, (database, body, onCosts) =>
      jsonAnswer(200, transfer.missing(database, readMissingRequest(body), onCosts)),
    ),
    endpoint(transferPaths.snapshot, database => jsonAnswer(200, transfer.snapshot(database))),
    endpoint(transferPaths.page, (database, body, onCosts) => ({
      ...jsonAnswer(200, undefined),
      body: pageText(transfer.page(database, readPageRequest(body), onCosts)),
      contentType: 'text/plain; charset=utf-8',
    })),
  ]
}

async function answer(call: EndpointCall, services: Services, handle: Handle): Promise<Answer> {
  const { clock, engine } = services
  const begunMs = clock.elapsedMs()
  const { caller, database, isAdmin, place } = await principalOf(call, services)
  const rateLimited = isAdmin ? engine.exhausted(database) : []
  const costs = { compute: 1, read: 0, write: 0 }
  const handled = async () => {
    if (!isAdmin) {
      throw new MessageError(
        'forbidden',
        msg`Imports and exports need the root secret or an admin key of the database.`,
      )
    }
    if (rateLimited.length > 0)
      throw new MessageError('too many requests', msg`Rate limit for ${rateLimited[0]} exceeded`)
    try {
      return await handle(database, call.body ?? '', ({ readBytes, writeOps }) => {
        costs.read += Math.ceil(readBytes / limits.readOpBytes)
        costs.write += writeOps
      })
    } finally {
      engine.charge(database, costs)
    }
  }
  const result = await handled().catch(rejection)
  const metrics = {
    ...idleMetrics,
    byteReadOps: costs.read,
    byteWriteOps: costs.write,
    queryTimeMs: Math.round(clock.elapsedMs() - begunMs),
    rateLimited,
  }
  return { ...result, metrics, place, caller }
}

/** The answer to a request that failed with an expected error. Throws all other errors again. */
function rejection(error: unknown): Answer {
  if (error instanceof MessageError) return error.answer
  if (error instanceof BadRecord || error instanceof TransferError)
    return new MessageError('bad request', msg`${error.message}`).answer
  throw error
}
