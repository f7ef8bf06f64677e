// Starts the servers to compare with, each as a process of its own that says on its first line where it listens.

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Baseline {
  readonly port: number
  /** Where it speaks HTTP/2, if it does. */
  readonly http2Port: number | undefined
  readonly pid: number
  stop(): Promise<void>
}

/** Runs a script of this folder whose first line of output is the port it listens on, and that for HTTP/2. */
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
    pid: child.pid as number,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout) for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('a baseline ended before it listened')
}
