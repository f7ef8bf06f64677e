// The endpoints for `terrarium import` and `terrarium export` on a running service. Requests need the root secret or an
// admin key of the database. `POST /api/v1/transfer/write` writes a batch of documents (with their times) and
// credentials (with their password hashes). `missing` returns which of the given documents do not exist. `snapshot` and
// `page` read documents for an export. Requests are counted, limited and recorded like queries.

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
import { ApiError, apiEndpoint } from '../api.ts'
import type { Endpoint, Services } from '../endpoint.ts'

/** The endpoints of imports and exports. */
export function transferEndpoints(services: Services, transfer: TransferService): readonly Endpoint[] {
  const endpoint = (path: string, handle: Handle): Endpoint =>
    apiEndpoint(services, {
      path,
      access: 'admin',
      forbidden: 'Imports and exports need the root secret or an admin key of the database.',
      isCharged: true,
      readsBody: true,
      methods: {
        POST: ({ body = '' }, { database }, onCosts) =>
          withBadRequests(async () => handle(database, body, onCosts)),
      },
    })
  return [
    endpoint(transferPaths.write, async (database, body, onCosts) => {
      const { options, records } = readWriteRequest(body)
      return writeResponse(await transfer.write(database, records, options, onCosts))
    }),
    endpoint(transferPaths.missing, (database, body, onCosts) =>
      transfer.missing(database, readMissingRequest(body), onCosts),
    ),
    endpoint(transferPaths.snapshot, database => transfer.snapshot(database)),
    endpoint(transferPaths.page, (database, body, onCosts) =>
      pageText(transfer.page(database, readPageRequest(body), onCosts)),
    ),
  ]
}

/** Handles a request for a database. Returns the body of the answer. `onCosts` is called after each transaction. */
type Handle = (database: DatabaseId, body: string, onCosts: OnCosts) => unknown

/** Converts errors of `work` that the client has caused to 400 errors. */
async function withBadRequests(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BadRecord || error instanceof TransferError)
      throw new ApiError('bad request', msg`${error.message}`)
    throw error
  }
}
