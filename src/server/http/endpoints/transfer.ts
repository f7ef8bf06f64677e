// Endpoints for `terrarium import` and `terrarium export` on a running service, for the root secret or an admin key of
// the database. `POST /api/v1/transfer/write` writes a batch of documents (with their times) and credentials (with
// their password hashes). `missing` returns which of the given documents do not exist. `snapshot` and `page` read
// documents for an export. Requests are counted, limited and recorded like queries.

import { msg } from '../../../base/message.ts'
import { inSlices } from '../../../base/slices.ts'
import {
  pageText,
  readMissingRequest,
  readPageRequest,
  readWriteRequest,
  transferPaths,
  writeResponse,
} from '../../../transfer/messages.ts'
import { BadRecord, TransferError } from '../../../transfer/record.ts'
import type { TransferRequest, TransferService } from '../../../transfer/service.ts'
import type { DatabaseId } from '../../../values/value.ts'
import { ApiError, apiEndpoint } from '../api.ts'
import type { Endpoint, Services } from '../endpoint.ts'

const transferLimits = {
  /** Maximum number of documents in a batch with the option `checks: together`; own limit. */
  togetherDocumentsMax: 2000,
  /** Maximum number of bytes of a request that asks which documents are missing; own limit. */
  missingBodyBytesMax: 2_097_152,
} as const

export function transferEndpoints(services: Services, transfer: TransferService): readonly Endpoint[] {
  const endpoint = (path: string, handle: Handle, bodyBytesMax?: number): Endpoint =>
    apiEndpoint(services, {
      path,
      access: 'admin',
      forbidden: 'Imports and exports need the root secret or an admin key of the database.',
      isCharged: true,
      readsBody: true,
      ...(bodyBytesMax && { bodyBytesMax }),
      methods: {
        POST: ({ body = '', ticket }, { database }, onCosts) =>
          asBadRequest(async () => handle(database, body, { onCosts, ticket })),
      },
    })
  return [
    endpoint(transferPaths.write, async (database, body, request) => {
      const { options, records } = await readWriteRequest(body, (lines, read) =>
        inSlices(lines, read, () => request.ticket.throwIfStopped()),
      )
      if (options.checks === 'together' && records.length > transferLimits.togetherDocumentsMax) {
        const text = msg`Too many documents to check together. Max: ${transferLimits.togetherDocumentsMax}.`
        throw new ApiError('request too large', text)
      }
      return writeResponse(await transfer.write(database, records, options, request))
    }),
    endpoint(
      transferPaths.missing,
      (database, body, request) => transfer.missing(database, readMissingRequest(body), request),
      transferLimits.missingBodyBytesMax,
    ),
    endpoint(transferPaths.snapshot, database => transfer.snapshot(database)),
    endpoint(transferPaths.page, async (database, body, request) =>
      pageText(await transfer.page(database, readPageRequest(body), request)),
    ),
  ]
}

/** Returns the body of the answer. */
type Handle = (database: DatabaseId, body: string, request: Required<TransferRequest>) => unknown

/** Converts the errors of `work` that the client has caused to errors with status 400. */
async function asBadRequest(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BadRecord || error instanceof TransferError)
      throw new ApiError('bad request', msg`${error.message}`)
    throw error
  }
}
