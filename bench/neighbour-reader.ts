// The reader of the case `neighbours`. It runs in a thread of its own, so that the work of the benchmark on long
// responses does not count as waiting.

import assert from 'node:assert/strict'
import { Agent, request as httpRequest } from 'node:http'
import { isMainThread, parentPort, workerData } from 'node:worker_threads'

/** Durations in milliseconds, and the number of failed reads. */
export interface Times {
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly errors: number
}

/** The work of the reader, in its own thread. */
export interface ReaderPlan {
  readonly port: number
  readonly secret: string
  /** Queries that are sent in turn. */
  readonly bodies: readonly string[]
  /** Interval between two reads. */
  readonly everyMs: number
}

/** Sends the queries repeatedly, and records the durations. */
class ReadLoop {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #port: number
  readonly #headers: Record<string, string>
  readonly #bodies: readonly string[]
  #next = 0
  #times: number[] = []
  #errors = 0
  #underWay = 0

  constructor({ port, secret, bodies }: ReaderPlan) {
    this.#port = port
    this.#bodies = bodies
    this.#headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
  }

  /** Runs at a fixed rate until `stop` is called and the running reads have been answered. */
  begin(everyMs: number): () => Promise<Times> {
    this.#times = []
    this.#errors = 0
    let due = performance.now()
    const timer = setInterval(() => {
      for (; due <= performance.now(); due += everyMs) this.#read(due)
    }, everyMs)
    return async () => {
      clearInterval(timer)
      while (this.#underWay > 0) await new Promise(resolve => setTimeout(resolve, 5))
      return timesOf(this.#times, this.#errors)
    }
  }

  #read(due: number): void {
    this.#underWay++
    const done = () => {
      this.#underWay--
      this.#times.push(performance.now() - due)
    }
    const options = { agent: this.#agent, port: this.#port, method: 'POST', headers: this.#headers }
    const sent = httpRequest({ ...options, host: '127.0.0.1', path: '/' }, response => {
      response.resume()
      if (response.statusCode !== 200) this.#errors++
      response.once('end', done)
    })
    sent.once('error', () => {
      this.#errors++
      done()
    })
    sent.end(this.#bodies[this.#next++ % this.#bodies.length])
  }
}

export function timesOf(times: readonly number[], errors: number): Times {
  const sorted = times.toSorted((left, right) => left - right)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0, errors }
}

if (!isMainThread) {
  const plan = workerData as ReaderPlan
  const loop = new ReadLoop(plan)
  const port = parentPort
  assert.ok(port)
  let stop: (() => Promise<Times>) | undefined
  port.on('message', (message: 'begin' | 'stop') => {
    if (message === 'begin') stop = loop.begin(plan.everyMs)
    else void stop?.().then(times => port.postMessage(times))
  })
}
