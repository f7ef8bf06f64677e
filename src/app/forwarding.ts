// With `--workers`, only the supervisor (the process that starts the workers) commits, so two processes never commit
// concurrently. Workers evaluate reads, and forward batches of imports, reservations of ids, commits that only advance
// the time of the store, and queries that write, check a password or have a long body. The supervisor evaluates a query
// again if it conflicts with another commit.

import type { Duplex } from 'node:stream'
import { ownerOfDatabase, type StopCause, Ticket } from '../base/admission/ticket.ts'
import { RequestError, type RequestErrorCode } from '../base/request-errors.ts'
import { inSlices } from '../base/slices.ts'
import { type Engine, LongBody, type QueryRequest, type QueryResponse } from '../engine/engine-contract.ts'
import { storeFailure } from '../engine/store-failures.ts'
import type { KeyValueStore } from '../storage/kv/kv-contract.ts'
import { StoreUnavailableError } from '../storage/kv/store-errors.ts'
import { reserveIdRange } from '../storage/store/id-reservation.ts'
import type { IdRange } from '../storage/store/ids.ts'
import type { Store } from '../storage/store/store.ts'
import type { TransactionCounters } from '../storage/store/store-contract.ts'
import { readWriteRequest, readWriteResponse, writeRequestText, writeResponse } from '../transfer/messages.ts'
import type { TransferService } from '../transfer/service.ts'
import type { DatabaseId } from '../values/value.ts'
import { Callee, Caller, ConnectionLost, type Payload } from './calls.ts'

/** Long bodies of queries and of their results are sent as separate pieces. */
type Operation =
  | { readonly kind: 'query'; readonly request: Omit<QueryRequest, 'longBody'> }
  | { readonly kind: 'import'; readonly database: DatabaseId; readonly text: string }
  | { readonly kind: 'reserve ids'; readonly worker: number; readonly held: IdRange | undefined }
  /** Commits only to advance the time of the store. */
  | { readonly kind: 'pass time' }

/** Represents an expected error in the message between the processes. */
interface ExpectedError {
  readonly code?: RequestErrorCode
  readonly outcome?: StoreUnavailableError['outcome']
  readonly reason: string
}

/** The result of a batch of an import. `text`: the response as JSON. `spent`: the costs of each transaction. */
interface ImportResult {
  readonly text: string
  readonly spent: readonly Readonly<TransactionCounters>[]
}

/** `in_flight`: without a result yet. */
interface OperationCounts {
  operations: number
  in_flight: number
}

/** The objects that execute forwarded operations in the committing process. */
interface CommitterParts {
  readonly engine: Pick<Engine, 'query' | 'explain' | 'withMemory'>
  readonly store: Store
  readonly transfer: Pick<TransferService, 'write'>
}

/** Runs in the committing process, until the worker's connection closes. */
export function serveWorker(parts: CommitterParts, counts: OperationCounts, socket: Duplex): void {
  const callee = new Callee(socket, async ({ pieces = [], value }, onCancel) => {
    counts.operations++
    counts.in_flight++
    const operation = value as Operation
    const ticket = new Ticket(ownerOf(operation))
    // Any other cause means that the client has disconnected or the connection to the worker has closed.
    onCancel(cause => ticket.stop(cause === 'evicted' ? cause : 'disconnected'))
    try {
      return await handle(parts, operation, pieces, ticket)
    } finally {
      counts.in_flight--
    }
  })
  const stop = parts.store.watch(() => callee.notify())
  void callee.closed.then(stop)
}

/** Names the owner of an operation in this process's budgets until the credential of a query is verified. */
function ownerOf(operation: Operation): string {
  if (operation.kind === 'query') return operation.request.address ?? ''
  return operation.kind === 'import' ? ownerOfDatabase(operation.database) : ''
}

async function handle(
  parts: CommitterParts,
  operation: Operation,
  pieces: readonly Uint8Array[],
  ticket: Ticket,
): Promise<Payload> {
  if (operation.kind === 'query') {
    const longBody = pieces.length > 0 ? new LongBody(pieces) : undefined
    const request = { ...operation.request, longBody }
    const { engine } = parts
    const response = await (request.isExplanation
      ? engine.explain(request, ticket)
      : engine.query(request, ticket))
    const { longBody: long, ...rest } = response
    return { value: rest, ...(long && { pieces: long.pieces }) }
  }
  try {
    return { value: { result: await run(parts, operation, ticket) } }
  } catch (error) {
    return { value: { failure: failureOf(error) } }
  }
}

async function run(
  { engine, store, transfer }: CommitterParts,
  operation: Exclude<Operation, { kind: 'query' }>,
  ticket: Ticket,
): Promise<unknown> {
  switch (operation.kind) {
    case 'import': {
      const { database, text } = operation
      return engine.withMemory(ticket, text.length, async () => {
        const { options, records } = await readWriteRequest(text, (lines, read) =>
          inSlices(lines, read, () => ticket.throwIfStopped()),
        )
        const spent: Readonly<TransactionCounters>[] = []
        const onCosts = (counters: Readonly<TransactionCounters>) => spent.push({ ...counters })
        const result = await transfer.write(database, records, options, { onCosts, ticket })
        return { text: JSON.stringify(writeResponse(result)), spent } satisfies ImportResult
      })
    }
    case 'reserve ids':
      return reserveIdRange(store, operation.worker, operation.held)
    case 'pass time':
      return store.probe()
  }
}

function failureOf(error: unknown): ExpectedError {
  if (error instanceof RequestError) return { code: error.code, reason: error.description }
  if (error instanceof StoreUnavailableError) return { outcome: error.outcome, reason: error.message }
  const failure = storeFailure(error)
  if (failure === undefined) throw error
  return { code: failure.code, reason: failure.description }
}

function errorOf({ code, outcome, reason }: ExpectedError): Error {
  if (code !== undefined) return new RequestError(code, reason)
  return new StoreUnavailableError(reason, outcome === 'unknown' ? { outcome } : {})
}

/** Runs in a worker. Operations reject with `StoreUnavailableError` after the committing process has exited. */
export class CommitterClient {
  readonly #caller: Caller

  constructor(socket: Duplex) {
    this.#caller = new Caller(socket)
  }

  /** The committing process decides whether a stop of `ticket` ends the query. */
  readonly query = async (
    { longBody, ...request }: QueryRequest,
    ticket?: Ticket,
  ): Promise<QueryResponse> => {
    const operation: Operation = { kind: 'query', request }
    const { pieces = [], value } = await this.#call(operation, ticket, longBody?.pieces)
    const response = value as QueryResponse
    return pieces.length > 0 ? { ...response, longBody: new LongBody(pieces) } : response
  }

  readonly write: TransferService['write'] = async (database, records, options, { onCosts, ticket } = {}) => {
    const operation: Operation = { kind: 'import', database, text: writeRequestText(records, options) }
    const { spent, text: result } = (await this.#run(operation, ticket)) as ImportResult
    for (const counters of spent) onCosts?.(counters)
    return readWriteResponse(JSON.parse(result), records.length)
  }

  /** See {@link reserveIdRange}. */
  async reserveIds(worker: number, held: IdRange | undefined): Promise<IdRange> {
    return (await this.#run({ kind: 'reserve ids', worker, held })) as IdRange
  }

  /** See {@link Store.probe}. */
  async passTime(): Promise<void> {
    await this.#run({ kind: 'pass time' })
  }

  /** Reports commits of any process. Returns a function that removes the listener. */
  readonly watch: KeyValueStore['watch'] = listener => this.#caller.watch(listener)

  /** Closes once no operation is pending. */
  close(): Promise<void> {
    return this.#caller.close()
  }

  async #run(operation: Operation, ticket?: Ticket): Promise<unknown> {
    const { value } = await this.#call(operation, ticket)
    const { failure, result } = value as { failure?: ExpectedError; result?: unknown }
    if (failure !== undefined) throw errorOf(failure)
    return result
  }

  async #call(value: Operation, ticket?: Ticket, pieces?: readonly Uint8Array[]): Promise<Payload> {
    let endWait: (() => void) | undefined
    const onSent = (cancel: (cause: StopCause) => void) => {
      endWait = ticket?.begin(cancel, true)
    }
    try {
      return await this.#caller.call({ value, ...(pieces && { pieces }) }, onSent)
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      throw new StoreUnavailableError(error.message, error.wasSent ? { outcome: 'unknown' } : {})
    } finally {
      endWait?.()
    }
  }
}
