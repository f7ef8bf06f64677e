// Starts the real service as a child process, the way an operator does, so that tests see what a client sees.
// Every server gets a free port and, unless told otherwise, a data directory of its own; when it stops, that
// folder has to pass the integrity check and is removed.

import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { patience } from './patience.ts'
import { assertSound, program, temporaryFolder } from './program.ts'

export interface ServerOptions {
  /** A data directory of the caller's, who also checks and removes it. Absent: a fresh temporary one. */
  readonly data?: string
  /** More command-line flags after `serve --port 0 --data DIR`. */
  readonly flags?: readonly string[]
  /** What is run; the sources when absent. */
  readonly program?: string
  /** The files and connections that each of its processes may have open. */
  readonly descriptorsMax?: number
  /** The stack of its main thread, in KiB. */
  readonly stackKibibytes?: number
  /** More environment; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Told what the server has written to standard error so far, whenever that is more, also before it serves. */
  readonly onStderr?: (text: string) => void
}

export interface RunningServer {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string
  readonly rootSecret: string
  readonly data: string
  readonly pid: number
  /** What the server has written to standard error so far. */
  stderr(): string
  /** SIGTERM; the exit must be clean. Then checks and removes the data directory, if it is the server's own. */
  stop(): Promise<void>
  /** SIGKILL, as a crash would end it. Call {@link stop} afterwards. */
  kill(): Promise<void>
}

/** That of `npm start`. */
const usualStackKibibytes = 3600

/** The lowest: whoever tests with passwords would wait for nothing else. */
const passwordCost = '4'

const startTimeoutMs = 60_000
const stopTimeoutMs = 30_000
const readyLine = /^Terrarium is ready on (https?:\/\/\S+)$/

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a server and waits until it serves. Rejects with its standard error when it does not. */
export async function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  const data = options.data ?? (await temporaryFolder())
  const rootSecret = options.env?.TERRARIUM_ROOT_SECRET ?? 'root-secret-of-the-tests'
  const { descriptorsMax } = options
  const limited = descriptorsMax === undefined ? 'exec "$@"' : `ulimit -n ${descriptorsMax}; exec "$@"`
  const nodeFlags = [
    `--stack-size=${options.stackKibibytes ?? usualStackKibibytes}`,
    '--max-semi-space-size=32',
    '--v8-pool-size=0',
  ]
  const words = [
    ...nodeFlags,
    options.program ?? program,
    'serve',
    '--port',
    '0',
    '--data',
    data,
    ...(options.flags ?? []),
  ]
  const child = spawn('sh', ['-c', limited, 'sh', process.execPath, ...words], {
    env: {
      ...process.env,
      TERRARIUM_ROOT_SECRET: rootSecret,
      TERRARIUM_PASSWORD_COST: passwordCost,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    options.onStderr?.(stderr)
  })
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()))
  const removeOwnFolder = async () => {
    if (!options.data) await rm(data, { recursive: true, force: true })
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await closed
    running.delete(child)
  }
  const stop = async () => {
    try {
      if (running.has(child)) {
        await terminate(child, closed)
        running.delete(child)
      }
      if (!options.data) await assertSound(data)
    } catch (cause) {
      await kill()
      throw new Error(`${(cause as Error).message}; its standard error:\n${stderr}`, { cause })
    } finally {
      await removeOwnFolder()
    }
  }
  try {
    const url = await ready(child, child.stdout)
    return { url, rootSecret, data, pid: child.pid as number, stderr: () => stderr, kill, stop }
  } catch (cause) {
    await kill()
    await removeOwnFolder()
    throw new Error(`${(cause as Error).message}; its standard error:\n${stderr}`, { cause })
  }
}

/** The address on the ready line; rejects when the process ends or stays silent. */
function ready(child: ChildProcess, stdout: Readable): Promise<string> {
  const timeoutMs = patience(startTimeoutMs)
  const deadline = AbortSignal.timeout(timeoutMs)
  return new Promise((resolve, reject) => {
    createInterface({ input: stdout }).on('line', line => {
      const url = readyLine.exec(line)?.[1]
      if (url) resolve(url)
    })
    child.once('error', reject)
    child.once('close', (code, signal) =>
      reject(new Error(`the server ended (${signal ?? `exit status ${code}`}) before it was ready`)),
    )
    deadline.addEventListener('abort', () =>
      reject(new Error(`the server was not ready after ${timeoutMs} ms`)),
    )
  })
}

async function terminate(child: ChildProcess, closed: Promise<void>): Promise<void> {
  child.kill('SIGTERM')
  const timeoutMs = patience(stopTimeoutMs)
  const deadline = AbortSignal.timeout(timeoutMs)
  const expired = new Promise<void>((_, reject) => {
    deadline.addEventListener('abort', () =>
      reject(new Error(`the server did not stop within ${timeoutMs} ms`)),
    )
  })
  await Promise.race([closed, expired])
  if (child.exitCode !== 0) {
    throw new Error(`the server stopped with ${child.signalCode ?? `exit status ${child.exitCode}`}`)
  }
}
