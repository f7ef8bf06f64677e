// Starts the servers for comparison, each in a process of its own that prints its ports on the first line.

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Baseline {
  readonly port: number
  /** The port for HTTP/2, if the server supports it. */
  readonly http2Port: number | undefined
  /** Processes whose CPU time counts, together with that of their descendants. */
  readonly pids: readonly number[]
  stop(): Promise<void>
}

/** The first line of the script's output contains its port, and possibly its port for HTTP/2. */
export async function startBaseline(script: string, env: Record<string, string> = {}): Promise<Baseline> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(script, import.meta.url))], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()))
  const [port, http2Port] = (await firstLine(child)).split(' ')
  return {
    port: Number(port),
    http2Port: http2Port === undefined ? undefined : Number(http2Port),
    pids: [child.pid as number],
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout) for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('a baseline server exited before it listened')
}
