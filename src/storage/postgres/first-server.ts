// Connects to the first of several servers that accepts the connection. The servers are tried in order. A server that
// does not respond soon delays the connection only a little: the next server is then tried at the same time.

import { type Cancel, systemTimers } from '../../base/timers.ts'

/** Milliseconds after which the next server is tried, too. */
const nextServerMs = 1_000

interface ConnectOptions<S, C> {
  /** Contains at least one server. */
  readonly servers: readonly S[]
  /** Stops when `signal` is aborted. */
  readonly connect: (server: S, signal: AbortSignal) => Promise<C>
  readonly close: (connection: C) => void
  /** The failure applies to all servers, so that no other server is tried. */
  readonly isFinal: (cause: unknown) => boolean
}

/**
 * `silent`: the servers that did not respond before the connection. `failures`: in the order of the servers; not empty.
 */
type Outcome<S, C> =
  | { readonly connection: C; readonly silent: readonly S[] }
  | { readonly failures: readonly { readonly server: S; readonly cause: unknown }[] }

/** Returns the first connection, or the failures of all servers that were tried. */
export function connectToFirst<S, C>({
  close,
  connect,
  isFinal,
  servers,
}: ConnectOptions<S, C>): Promise<Outcome<S, C>> {
  const failures = new Map<S, unknown>()
  const running = new Map<S, AbortController>()
  const { promise, resolve } = Promise.withResolvers<Outcome<S, C>>()
  let next = 0
  let isDone = false
  let cancelNext: Cancel = () => undefined
  const finish = (outcome: Outcome<S, C>) => {
    isDone = true
    cancelNext()
    for (const controller of running.values()) controller.abort()
    resolve(outcome)
  }
  const fail = (server: S, cause: unknown) => {
    failures.set(server, cause)
    const isLast = next >= servers.length
    if (!isFinal(cause) && !(isLast && running.size === 0)) {
      if (!isLast) begin()
      return
    }
    const tried = servers.filter(each => failures.has(each))
    finish({ failures: tried.map(each => ({ server: each, cause: failures.get(each) })) })
  }
  const begin = () => {
    cancelNext()
    const server = servers[next++] as S
    const controller = new AbortController()
    running.set(server, controller)
    if (next < servers.length) cancelNext = systemTimers.after(nextServerMs, begin)
    connect(server, controller.signal).then(
      connection => {
        running.delete(server)
        if (isDone) close(connection)
        else finish({ connection, silent: [...running.keys()] })
      },
      cause => {
        running.delete(server)
        if (!isDone) fail(server, cause)
      },
    )
  }
  begin()
  return promise
}
