// The events of an event source of version 10, as they come: the source is what a query gives, and the stream goes on behind
// its last event when the connection ends.

import { at, type Json, parseJson, textAt } from '../wire/json.ts'
import { follow, type Scope } from './client.ts'
import { ServiceError } from './faults.ts'

/** An event of a document or of an element of the set. */
export interface SourceEvent {
  readonly kind: 'add' | 'update' | 'remove'
  /** In the format `tagged`. */
  readonly data: Json
  /** Microseconds: when it was committed. */
  readonly time: bigint
  readonly cursor: string
}

/** An event that tells why there are no more. */
class SourceEnded extends Error {
  override name = 'SourceEnded'
}

/** What names the source in the body of a query's response. Throws an Error when the query gives something else. */
export function sourceIn(body: string): string {
  const token = textAt(at(parseJson(body), 'data') ?? null, '@stream')
  if (token !== undefined) return token
  throw new Error('This query gives no event source. End it with .eventSource(), or with .eventsOn(.field).')
}

/** How long to wait before a stream that was cut off is opened again, in milliseconds. */
const againAfterMs = 3000

/**
 * Follows a source until `signal` is aborted. Rejects when the service refuses it or ends it for good; when the service
 * cannot be reached, `onAway` is told and it is tried again.
 */
export async function followSource(
  token: string,
  scope: Scope,
  on: { readonly event: (event: SourceEvent) => void; readonly away: (isAway: boolean) => void },
  signal: AbortSignal,
): Promise<void> {
  let cursor: string | undefined
  while (!signal.aborted) {
    const body = { token, ...(cursor !== undefined && { cursor }) }
    try {
      await follow(
        body,
        scope,
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
      const isRefused = cause instanceof ServiceError && cause.status >= 400 && cause.status < 500
      if (signal.aborted || isRefused || cause instanceof SourceEnded) throw cause
    }
    if (signal.aborted) return
    on.away(true)
    await new Promise(resolve => setTimeout(resolve, againAfterMs))
  }
}

function eventOf(line: Json): SourceEvent | undefined {
  const kind = textAt(line, 'type')
  if (kind === 'error') {
    const code = textAt(line, 'error', 'code') ?? 'error'
    throw new SourceEnded(`The stream has ended (${code}): ${textAt(line, 'error', 'message') ?? ''}`)
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
