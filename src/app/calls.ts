// Sends calls from one process to another process over a socket. All calls of one turn of the event loop are sent in
// one frame, because sending a frame takes longer than a short call. All results of one turn are also sent in one
// frame. A call or result with a long byte string is sent in its own frame. The pieces of the byte string are never
// concatenated. So even a call with many megabytes blocks neither process.
//
// The caller can cancel a call. The handler decides what a cancellation ends; every call gets a result in any case.

import type { Duplex } from 'node:stream'
import { receiveFrames, sendFrame } from '../base/frames.ts'

/** The data of a call or of its result. */
export interface Payload {
  /** A value that the structured clone algorithm supports. */
  readonly value: unknown
  /** A long byte string in pieces. Default: none. */
  readonly pieces?: readonly Uint8Array[]
}

/** Thrown by {@link Caller.call} when the connection has closed. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
  /** False if the call was not sent, and therefore has no effect. */
  readonly wasSent: boolean
  constructor(wasSent: boolean) {
    super('the process that handles the calls has exited')
    this.wasSent = wasSent
  }
}

/** A call or a result in a frame. */
interface FrameItem {
  readonly id: number
  readonly value: unknown
  /** The message of the unexpected error that the handler has thrown; only in a result. */
  readonly failure?: string
}

/**
 * The head of a frame from the caller. `watch` asks the callee to send notifications from now on. `cancel` cancels the
 * call with this id, for a reason that the caller chooses.
 */
type ToCallee =
  | { readonly calls: readonly FrameItem[] }
  | { readonly cancel: number; readonly reason: string }
  | 'watch'
/** The head of a frame from the callee. Every frame is also a notification, even a frame without results. */
interface ToCaller {
  readonly results: readonly FrameItem[]
}

/** Collects the items of one turn of the event loop. */
class FrameBatch {
  readonly #send: (items: readonly FrameItem[], pieces?: readonly Uint8Array[]) => void
  #items: FrameItem[] = []
  #isScheduled = false

  constructor(send: (items: readonly FrameItem[], pieces?: readonly Uint8Array[]) => void) {
    this.#send = send
  }

  add(item: FrameItem, pieces: readonly Uint8Array[] = []): void {
    if (pieces.length > 0) {
      this.#send([item], pieces)
      return
    }
    this.#items.push(item)
    this.flushSoon()
  }

  /** Sends a frame at the end of this turn, even if there are no items. */
  flushSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      const items = this.#items
      this.#items = []
      this.#send(items)
    })
  }
}

/** The side of a connection that sends calls. */
export class Caller {
  readonly #socket: Duplex
  readonly #pending = new Map<number, PromiseWithResolvers<Payload>>()
  readonly #listeners = new Set<() => void>()
  readonly #batch: FrameBatch
  #newestId = 0
  #isOpen = true
  /** Called whenever no call is pending. */
  #onIdle: () => void = () => undefined

  constructor(socket: Duplex) {
    this.#socket = socket
    this.#batch = new FrameBatch((calls, pieces) => this.#send({ calls }, pieces))
    socket.on('error', () => {})
    receiveFrames(socket, ({ body, head }) => this.#receive(head as ToCaller, body))
    socket.once('close', () => this.#lose())
  }

  /**
   * Resolves with the result. Rejects with {@link ConnectionLost} when the connection closes, and with an Error when
   * the handler throws an error. `onSent` gets a function that cancels the call; after the result, a cancellation has no
   * effect.
   */
  call({ pieces, value }: Payload, onSent?: (cancel: (reason: string) => void) => void): Promise<Payload> {
    if (!this.#isOpen) return Promise.reject(new ConnectionLost(false))
    const id = ++this.#newestId
    const pending = Promise.withResolvers<Payload>()
    this.#pending.set(id, pending)
    this.#batch.add({ id, value }, pieces)
    onSent?.(reason => {
      // The call is sent at the end of this turn, so a cancellation that was sent at once could overtake the call.
      setImmediate(() => {
        if (this.#pending.has(id)) this.#send({ cancel: id, reason })
      })
    })
    return pending.promise
  }

  /** Calls `listener` at each notification from the other process. Returns a function that removes the listener. */
  watch(listener: () => void): () => void {
    if (this.#listeners.size === 0) this.#send('watch')
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Closes the connection when no call is pending. */
  async close(): Promise<void> {
    if (this.#pending.size > 0)
      await new Promise<void>(resolve => {
        this.#onIdle = resolve
      })
    this.#socket.end()
  }

  #send(head: ToCallee, pieces?: readonly Uint8Array[]): void {
    if (this.#isOpen) sendFrame(this.#socket, head, pieces)
  }

  #receive({ results }: ToCaller, pieces: readonly Uint8Array[]): void {
    for (const { failure, id, value } of results) {
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      if (failure === undefined) pending?.resolve({ value, pieces })
      else pending?.reject(new Error(failure))
    }
    if (this.#pending.size === 0) this.#onIdle()
    for (const listener of this.#listeners) listener()
  }

  #lose(): void {
    this.#isOpen = false
    for (const { reject } of this.#pending.values()) reject(new ConnectionLost(true))
    this.#pending.clear()
    this.#onIdle()
  }
}

/** Sets the function that is called when the caller cancels the call or the connection closes. */
type OnCancel = (listener: (reason: string) => void) => void

type Handle = (call: Payload, onCancel: OnCancel) => Promise<Payload>

/** The side of a connection that handles calls. */
export class Callee {
  readonly #batch: FrameBatch
  readonly #handle: Handle
  /** The calls without a result that can be cancelled. */
  readonly #cancel = new Map<number, (reason: string) => void>()
  #isWatched = false
  #isOpen = true
  readonly closed: Promise<void>

  /** If `handle` rejects, the call rejects with an Error that has the same message. */
  constructor(socket: Duplex, handle: Handle) {
    this.#handle = handle
    this.#batch = new FrameBatch((results, pieces) => {
      if (this.#isOpen) sendFrame(socket, { results } satisfies ToCaller, pieces)
    })
    socket.on('error', () => {})
    receiveFrames(socket, ({ body, head }) => this.#receive(head as ToCallee, body))
    this.closed = new Promise(resolve => {
      socket.once('close', () => {
        this.#isOpen = false
        for (const cancel of this.#cancel.values()) cancel('connection closed')
        resolve()
      })
    })
  }

  /** Sends a notification at the end of this turn of the event loop if the caller has requested notifications. */
  notify(): void {
    if (this.#isWatched) this.#batch.flushSoon()
  }

  #receive(head: ToCallee, pieces: readonly Uint8Array[]): void {
    if (head === 'watch') this.#isWatched = true
    else if ('cancel' in head) this.#cancel.get(head.cancel)?.(head.reason)
    else for (const { id, value } of head.calls) void this.#answer(id, { value, pieces })
  }

  async #answer(id: number, call: Payload): Promise<void> {
    try {
      const { pieces, value } = await this.#handle(call, listener => this.#cancel.set(id, listener))
      this.#batch.add({ id, value }, pieces)
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      this.#batch.add({ id, value: undefined, failure })
    } finally {
      this.#cancel.delete(id)
    }
  }
}
