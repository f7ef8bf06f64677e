// Follows an event source of version 10, which a query returns. After a lost connection, the stream continues after the
// last received event.

import { at, type Json, parseJson, textAt } from '../wire/json.ts'
import { follow, type RequestSecret } from './client.ts'
import { ServiceError } from './faults.ts'

/** A change of a document or of an element of the set. */
export interface SourceEvent {
  readonly kind: 'add' | 'update' | 'remove'
  /** Data in the format `tagged`. */
  readonly data: Json
  /** Microseconds of the commit. */
  readonly time: bigint
  readonly cursor: string
}

/** The service has ended the stream with an error event. */
class SourceEndedError extends Error {
  override name = 'SourceEndedError'
}

/**
 * Returns the event source in the body of a query's response. Throws an Error when the result is not an event source.
 */
export function sourceIn(body: string): string {
  const token = textAt(at(parseJson(body), 'data') ?? null, '@stream')
  if (token !== undefined) return token
  throw new Error(
    'This query does not return an event source. End it with .eventSource(), or with .eventsOn(.field).',
  )
}

/** Milliseconds before an interrupted stream is reopened. */
const reopenAfterMs = 3000

/**
 * Runs until `signal` is aborted. Rejects when the service rejects the source or ends the stream with an error. After
 * any other end of the connection, calls `on.away` and retries.
 */
export async function followSource(
  token: string,
  as: RequestSecret,
  on: { readonly event: (event: SourceEvent) => void; readonly away: (isAway: boolean) => void },
  signal: AbortSignal,
): Promise<void> {
  let cursor: string | undefined
  while (!signal.aborted) {
    const body = { token, ...(cursor !== undefined && { cursor }) }
    try {
      await follow(
        body,
        as,
        line => {
          on.away(false)
          cursor = textAt(line, 'cursor') ?? cursor
          const event = eventOf(line)
          if (event) on.event(event)
        },
        signal,
        '/stream/1',
      )
    } catch (cause) {
      const isRejected = cause instanceof ServiceError && cause.status >= 400 && cause.status < 500
      if (signal.aborted || isRejected || cause instanceof SourceEndedError) throw cause
    }
    if (signal.aborted) return
    on.away(true)
    await new Promise(resolve => setTimeout(resolve, reopenAfterMs))
  }
}

function eventOf(line: Json): SourceEvent | undefined {
  const kind = textAt(line, 'type')
  if (kind === 'error') {
    const code = textAt(line, 'error', 'code') ?? 'error'
    throw new SourceEndedError(
      `The service ended the stream (${code}): ${textAt(line, 'error', 'message') ?? ''}`,
    )
  }
  if (kind !== 'add' && kind !== 'update' && kind !== 'remove') return undefined
  const time = at(line, 'txn_ts')
  return {
    kind,
    data: at(line, 'data') ?? null,
    time: typeof time === 'bigint' ? time : 0n,
    cursor: textAt(line, 'cursor') ?? '',
  }
}
