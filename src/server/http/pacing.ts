// The state that all connections of a process share: the capacity of a turn of the event loop, and the offenders
// (clients whose session was closed because of protocol errors or useless frames). pacer.ts has the state of one
// connection and explains why connections wait.
//
// The capacity is adjusted after each turn, because the cost of a request is not known in advance: after a long turn,
// less work begins in the next one. The first waiting request of each connection always begins, so a client that sends
// one request at a time never waits here.

import { debtRepaidByTime, RateLimit } from '../../base/admission/rate-limit.ts'
import type { Clock } from '../../base/clock.ts'
import type { Timers } from '../../base/timers.ts'

export const pacingLimits = {
  /**
   * Maximum number of requests of one connection that start in one turn of the event loop, so that other connections
   * get their turn; own limit.
   */
  requestsPerTurn: 16,
  /** Number of waiting requests of one connection at which the service stops reading the connection; own limit. */
  requestsWaitingMax: 64,
  /** Bytes at the start of an HTTP/2 connection whose parsing costs as much as one request; own limit. */
  readBytesPerRequest: 256,
  /** Number of lines of HTTP/1.1 whose parsing costs as much as one request; own limit. */
  linesPerRequest: 16,
  /** Number of bytes of HTTP/1.1 whose parsing costs as much as one request; own limit. */
  bodyBytesPerRequest: 2048,
  /** Maximum number of HTTP/1.1 lines in a slice, which is a part of a read that is parsed at once; own limit. */
  linesPerSlice: 128,
  /** Number of lines in one read of HTTP/1.1 at which all new connections are parsed in slices; own limit. */
  linesOfFlood: 512,
  /**
   * Maximum number of excess lines of all connections in one turn. The lines of a connection beyond `shortReadLines`
   * (base/limits.ts) are excess lines. If there are more, all connections are parsed in slices; own limit.
   */
  excessLinesPerTurn: 2048,
  /** Milliseconds for which new connections are parsed in slices after too many lines were sent; own limit. */
  slicesNewMs: 10_000,
  /**
   * Maximum number of requests of all connections that start in one turn, in addition to the first request of each
   * connection; own limit.
   */
  extraRequestsPerTurn: 256,
  /** Target duration of a turn of the event loop in milliseconds; own limit. */
  turnMs: 10,
  /** Maximum number of streams of one HTTP/2 connection that a client may reset at once; own limit. */
  sessionResetBurst: 100,
  /** Maximum number of useless bytes (in no request and no body) in a burst on an HTTP/2 connection; own limit. */
  sessionUselessBytesBurst: 524_288,
  /** Maximum number of useless bytes (in no request and no body) per second on an HTTP/2 connection; own limit. */
  sessionUselessBytesPerSecond: 65_536,
  /**
   * Milliseconds for which a client is an offender after its session was closed because of protocol errors or useless
   * frames; own limit.
   */
  offenderMs: 10_000,
  /** Milliseconds between new sessions of an offender; own limit. */
  offenderSpacingMs: 100,
  /** Maximum number of streams that a session of an offender may reset at once; own limit. */
  offenderResetBurst: 10,
  /** Number by which the allowed useless bytes are divided for a session of an offender; own limit. */
  offenderUselessBytesPart: 16,
  /**
   * Maximum delay of a new session of an offender in milliseconds; a session with a longer delay is rejected; own
   * limit.
   */
  offenderWaitMs: 5_000,
  /** Approximate maximum number of offenders in memory; own limit. */
  offendersMax: 10_000,
} as const

/** Work of a connection that may have to wait for a later turn. */
export interface Step {
  readonly kind: 'request' | 'handshake' | 'read' | 'slice'
  /** Relative to the start of a request, which costs {@link requestCost}. */
  readonly cost: number
  readonly go: () => void
}

export const requestCost = 1
/** A TLS handshake takes about as long as this many short requests, most of it for a signature. */
export const handshakeCost = 32

/** The part of a connection that {@link Pacing} uses. */
export interface PacedConnection {
  /** Steps begun in this turn. */
  begun: number
  /** A request of the connection has begun in this turn, so no slice is parsed. */
  hasBegunRequest: boolean
  /** Lines in this turn that Node's parser has read directly from the socket. */
  lines: number
  /** True while a step waits for a later turn. */
  readonly isWaiting: boolean
  /** Begins the next waiting step if this turn has capacity. Returns whether a step has begun. */
  runNext(): boolean
  /** Parses the following bytes of the connection in slices. */
  slice(): void
}

/** Each process has one instance. */
export class Pacing {
  readonly clock: Clock
  readonly timers: Timers
  /** Connections that have begun work in this turn, or have waiting work. */
  readonly #listed = new Set<PacedConnection>()
  /**
   * The capacity of a turn, beyond the first request of each connection. `#spent`: the capacity that this turn has
   * used.
   */
  #capacity: number = pacingLimits.extraRequestsPerTurn
  #spent = 0
  #turnFromMs = 0
  /** Connections whose sockets Node's parser reads directly. */
  readonly #unsliced = new Set<PacedConnection>()
  /** Lines that the connections in `#unsliced` have sent in this turn beyond the allowed number. */
  #excessLines = 0
  #slicesUntilMs = Number.NEGATIVE_INFINITY
  /**
   * Milliseconds for each client. `#offences`: the remaining time as an offender. `#queues`: the delay of the next
   * session.
   */
  readonly #offences: RateLimit<string>
  readonly #queues: RateLimit<string>

  constructor(clock: Clock, timers: Timers) {
    this.clock = clock
    this.timers = timers
    this.#offences = new RateLimit(debtRepaidByTime, pacingLimits.offendersMax, () => clock.elapsedMs())
    this.#queues = new RateLimit(debtRepaidByTime, pacingLimits.offendersMax, () => clock.elapsedMs())
  }

  /**
   * For {@link PacedConnection}: returns whether the connection may begin its next step in this turn. If true, it must
   * begin the step immediately.
   */
  admit(connection: PacedConnection, { cost, kind }: Step): boolean {
    if (kind === 'slice' && connection.hasBegunRequest) return false
    const isFirst = connection.begun === 0
    const isFree = isFirst && kind === 'request'
    // In an empty turn, a step may exceed the capacity, so that an expensive step does not wait forever.
    const mayGo = isFirst && this.#spent === 0
    const hasCapacity = connection.begun < pacingLimits.requestsPerTurn && this.#spent < this.#capacity
    if (!isFree && !mayGo && !hasCapacity) return false
    if (!isFree) this.#spent += cost
    connection.begun++
    if (kind === 'request') connection.hasBegunRequest = true
    this.list(connection)
    return true
  }

  /** Includes the connection in the next turn of the event loop. {@link PacedConnection} calls this method. */
  list(connection: PacedConnection): void {
    if (this.#listed.size === 0) {
      this.#turnFromMs = this.clock.elapsedMs()
      setImmediate(this.#next)
    }
    this.#listed.add(connection)
  }

  readonly #next = () => {
    const tookMs = this.clock.elapsedMs() - this.#turnFromMs
    if (tookMs > pacingLimits.turnMs)
      this.#capacity = Math.floor((this.#capacity * pacingLimits.turnMs) / tookMs)
    else this.#capacity = Math.min(pacingLimits.extraRequestsPerTurn, 2 * this.#capacity + 1)
    this.#spent = 0
    this.#excessLines = 0
    // Connections that began the fewest steps in the last turn come first.
    const connections = [...this.#listed].sort((one, other) => one.begun - other.begun)
    this.#listed.clear()
    for (const connection of connections) {
      connection.begun = 0
      connection.hasBegunRequest = false
      connection.lines = 0
    }
    let running = connections
    while (running.length > 0) running = running.filter(connection => connection.runNext())
    for (const connection of connections) if (connection.isWaiting) this.list(connection)
  }

  /** True if new connections are sliced from their first byte, for {@link PacedConnection}. */
  get slicesNew(): boolean {
    return this.clock.elapsedMs() < this.#slicesUntilMs
  }

  /**
   * For {@link PacedConnection}: called when too many lines were sent. For a while, new connections are then sliced
   * from their first byte.
   */
  sliceNew(): void {
    this.#slicesUntilMs = this.clock.elapsedMs() + pacingLimits.slicesNewMs
  }

  /** Records whether Node's parser reads the socket directly. {@link PacedConnection} calls this method. */
  setSliced(connection: PacedConnection, isSliced: boolean): void {
    if (isSliced) this.#unsliced.delete(connection)
    else this.#unsliced.add(connection)
  }

  /**
   * For {@link PacedConnection}: called when Node has parsed `lines` more lines of the connection than a turn allows.
   * Node still parses the buffer that it has read, but no longer reads the connection.
   */
  noteExcess(connection: PacedConnection, lines: number): void {
    this.#excessLines += lines
    connection.slice()
    if (this.#excessLines <= pacingLimits.excessLinesPerTurn) return
    this.sliceNew()
    for (const each of this.#unsliced) each.slice()
  }

  /** Called after a session of `client` was closed because of protocol errors or useless frames. */
  noteOffence(client: string): void {
    this.#offences.take(client, pacingLimits.offenderMs - this.#offences.waitMs(client))
  }

  /** True if {@link noteOffence} was called for `client` in the last `offenderMs` milliseconds. */
  isOffender(client: string): boolean {
    return this.#offences.left(client) < 0
  }

  /**
   * Milliseconds until a new session of `client` may begin; undefined when too many sessions are waiting already.
   * Sessions of offenders are delayed, because a session causes work before its useless frames are detected. They are
   * not rejected, because other clients may have the same address.
   */
  sessionDelayMs(client: string): number | undefined {
    if (!this.isOffender(client)) return 0
    const delayMs = this.#queues.waitMs(client) + pacingLimits.offenderSpacingMs
    if (delayMs > pacingLimits.offenderWaitMs) return undefined
    this.#queues.take(client, pacingLimits.offenderSpacingMs)
    return delayMs
  }
}
