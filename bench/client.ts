// A closed-loop client with random requests that are the same in every run.

import { Agent, request as httpRequest } from 'node:http'
import type { ServerProcess } from '../tests/support/server-process.ts'
import { randomSource } from './cases.ts'

export interface Kind {
  readonly name: string
  readonly path: '/' | '/query/1'
  readonly body: (random: (below: number) => number) => object
}

/** Sends requests on several connections, each after the previous response. */
export class Client {
  readonly #agent = new Agent({ keepAlive: true })
  readonly #connections: number
  readonly #server: ServerProcess
  readonly #headers: Readonly<Record<string, string>>
  readonly #random = randomSource(1)

  constructor(server: ServerProcess, secret: string, connections: number) {
    this.#connections = connections
    this.#server = server
    this.#headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
  }

  async run(kind: Kind, requests: number): Promise<void> {
    let left = requests
    const worker = async () => {
      while (left-- > 0) await this.#send(kind.path, JSON.stringify(kind.body(this.#random)))
    }
    await Promise.all(Array.from({ length: this.#connections }, worker))
  }

  /** Sends requests for `ms` milliseconds. Returns the duration of each request in milliseconds. */
  async runFor(kind: Kind, ms: number): Promise<readonly number[]> {
    const times: number[] = []
    const endMs = performance.now() + ms
    const worker = async () => {
      while (performance.now() < endMs) {
        const sentMs = performance.now()
        await this.#send(kind.path, JSON.stringify(kind.body(this.#random)))
        times.push(performance.now() - sentMs)
      }
    }
    await Promise.all(Array.from({ length: this.#connections }, worker))
    return times
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(path: string, body: string): Promise<void> {
    const options = { agent: this.#agent, method: 'POST', headers: this.#headers }
    return new Promise((resolve, reject) => {
      const sent = httpRequest(new URL(path, this.#server.url), options, response => {
        let text = ''
        response.setEncoding('utf8').on('data', chunk => {
          text += chunk
        })
        response.once('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve()
          else
            reject(new Error(`${path} ${body.slice(0, 200)}: ${response.statusCode} ${text.slice(0, 300)}`))
        })
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }
}
