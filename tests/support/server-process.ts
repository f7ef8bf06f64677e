// Starts the built program as a child process, for tests whose subject is a process: signals, crashes, several workers,
// the slow lane, limits of the operating system, the command line. Other tests use `startServer` (server.ts), which
// costs a tenth of the time. A server gets a free port and, unless the caller names one, a data directory of its own,
// which is checked and removed when the server stops.

import { type ChildProcess, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { patience } from './patience.ts'
import { program, temporaryFolder } from './program.ts'
import { passwordCost, type RunningServer, type ServerOptions, testRootSecret } from './server.ts'
import { assertSound } from './sound.ts'

export interface ProcessOptions extends ServerOptions {
  /** The default is the built program. */
  readonly program?: string
  /** Limit of open files and connections (`ulimit -n`) of each process. */
  readonly descriptorsMax?: number
  /** Folder of the control group that the server and its processes belong to. */
  readonly controlGroup?: string
  /** Stack size of the main thread. */
  readonly stackKibibytes?: number
  /** Called with all of standard error so far whenever the server writes to it, also before it is ready. */
  readonly onStderr?: (text: string) => void
}

export interface ServerProcess extends RunningServer {
  readonly pid: number
  /** Sends SIGKILL and waits for the exit. Call {@link RunningServer.stop} afterwards. */
  kill(): Promise<void>
}

/**
 * For tests that start several services and have another subject: each slow-lane process costs almost a second of CPU
 * time.
 */
export const withoutSlowLane: readonly string[] = ['--slow-lane-processes', '0']

/** Stack size in `npm start`. */
const usualStackKibibytes = 3600

const startTimeoutMs = 60_000
const stopTimeoutMs = 30_000
const readyLine = /^Terrarium is ready on (https?:\/\/\S+)$/

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Waits until the server is ready. Rejects with its standard error otherwise. */
export async function startProcess(options: ProcessOptions = {}): Promise<ServerProcess> {
  const data = options.data ?? (await temporaryFolder())
  const rootSecret = options.env?.TERRARIUM_ROOT_SECRET ?? testRootSecret
  const { controlGroup, descriptorsMax } = options
  const joined = controlGroup === undefined ? '' : `echo $$ > '${controlGroup}/cgroup.procs' && `
  const limited = `${joined}${descriptorsMax === undefined ? '' : `ulimit -n ${descriptorsMax}; `}exec "$@"`
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
  const stopOnce = async () => {
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
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= stopOnce()
    return stopped
  }
  try {
    const url = await ready(child, child.stdout)
    return {
      ...{ url, rootSecret, data, pid: child.pid as number, stderr: () => stderr, kill, stop },
      [Symbol.asyncDispose]: stop,
    }
  } catch (cause) {
    await kill()
    await removeOwnFolder()
    throw new Error(`${(cause as Error).message}; its standard error:\n${stderr}`, { cause })
  }
}

/** Address on the ready line. Rejects if the process exits or prints no such line. */
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
