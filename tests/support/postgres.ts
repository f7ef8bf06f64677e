// A temporary PostgreSQL for tests: real server processes in a directory of their own, with a socket there.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { eventually } from './eventually.ts'

const run = promisify(execFile)

/** Why tests that need a PostgreSQL server cannot run here; undefined if they can. */
export const noPostgres: string | undefined =
  postgresPrograms() === undefined ? 'the PostgreSQL server programs are not installed' : undefined

/** PostgreSQL's programs of the newest version; undefined if PostgreSQL is not installed. */
export function postgresPrograms(): string | undefined {
  const found = globSync('/usr/lib/postgresql/*/bin/initdb').sort((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  )
  return found[0]?.slice(0, -'/initdb'.length)
}

/** PostgreSQL does not run as root, so root starts it as its own user. */
export function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Bytes of a segment of the write-ahead log of a server that is not durable. */
export const walSegmentBytes = 1 << 20

/** Started, killed and restarted by tests. */
export class PostgresServer {
  readonly folder: string
  readonly port: number
  readonly #programs: string
  readonly #user = unprivileged()
  #child: ChildProcess | undefined

  private constructor(folder: string, port: number, programFolder: string) {
    this.folder = folder
    this.port = port
    this.#programs = programFolder
  }

  /** `durable`: with fsync, as in production. */
  static async start({ durable = false } = {}): Promise<PostgresServer> {
    const programFolder = postgresPrograms()
    if (programFolder === undefined) throw new Error(noPostgres)
    const folder = mkdtempSync(join(tmpdir(), 'terrarium-postgres-'))
    const server = new PostgresServer(folder, await freePort(), programFolder)
    if (server.#user) chownSync(folder, server.#user.uid, server.#user.gid)
    // With small segments, a new cluster writes less, and a test can fill the disk faster.
    const segments = durable ? [] : [`--wal-segsize=${walSegmentBytes >> 20}`]
    const flags = ['-D', server.data, '-A', 'trust', '-U', 'tests', '--no-sync', ...segments]
    await run(join(programFolder, 'initdb'), flags, {
      ...server.#user,
      cwd: folder,
    })
    await server.run(...(durable ? ['-c', 'fsync=on'] : []))
    return server
  }

  /** Starts all other processes of the server. */
  get pid(): number {
    return this.#child?.pid as number
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  /** Creates a standby that receives all commits of this server. From now on, commits wait for it. */
  async standby(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'terrarium-standby-'))
    const standby = new PostgresServer(folder, await freePort(), this.#programs)
    if (standby.#user) chownSync(folder, standby.#user.uid, standby.#user.gid)
    const from = `host=127.0.0.1 port=${this.port} user=tests application_name=standby`
    await run(
      join(this.#programs, 'pg_basebackup'),
      ['-D', standby.data, '-d', from, '-R', '--no-sync', '--checkpoint=fast'],
      {
        ...this.#user,
        cwd: folder,
      },
    )
    await standby.run()
    await this.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'", 'SELECT pg_reload_conf()')
    await eventually('the standby follows', async () => {
      const [row] = await this.query('SELECT sync_state FROM pg_stat_replication')
      return row?.sync_state === 'sync'
    })
    return standby
  }

  /** Limits the size of files of processes that start from now on, as on a full disk. Infinity removes the limit. */
  limitFiles(bytes: number): void {
    const limit = Number.isFinite(bytes) ? String(bytes) : 'unlimited'
    execFileSync('prlimit', ['--pid', String(this.pid), `--fsize=${limit}:`], this.#user ?? {})
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(false)')
    await eventually('the standby is promoted', async () => {
      const [row] = await this.query('SELECT pg_is_in_recovery() AS recovers')
      return row?.recovers === false
    })
  }

  /** Returns the URL for TCP. */
  url(): string {
    return `postgres://tests@127.0.0.1:${this.port}/postgres`
  }

  /** Starts the server without fsync (writes survive a killed process). Resolves when it accepts connections. */
  async run(...settings: readonly string[]): Promise<void> {
    const child = spawn(
      join(this.#programs, 'postgres'),
      ['-D', this.data, '-k', this.folder, '-h', '127.0.0.1', '-p', String(this.port), '-F', ...settings],
      { ...this.#user, cwd: this.folder, stdio: 'ignore' },
    )
    this.#child = child
    await eventually('PostgreSQL accepts connections', async () => {
      try {
        await this.query('SELECT 1')
        return true
      } catch (cause) {
        if (child.exitCode !== null) throw cause
        return false
      }
    })
  }

  /** The file that {@link runWithTls} writes. */
  get certificateFile(): string {
    return join(this.folder, 'certificate.pem')
  }

  /** {@link run} with TLS for clients that request it. */
  runWithTls(certificate: string, key: string): Promise<void> {
    const keyFile = join(this.folder, 'key.pem')
    writeFileSync(this.certificateFile, certificate)
    writeFileSync(keyFile, key, { mode: 0o600 })
    if (this.#user) chownSync(keyFile, this.#user.uid, this.#user.gid)
    const files = { ssl_cert_file: this.certificateFile, ssl_key_file: keyFile }
    return this.run(
      '-c',
      'ssl=on',
      ...Object.entries(files).flatMap(([name, file]) => ['-c', `${name}=${file}`]),
    )
  }

  /** Runs one statement after the other, on a connection of its own. */
  async query(...statements: readonly string[]): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: this.url() })
    client.on('error', () => undefined)
    await client.connect()
    try {
      let rows: readonly Record<string, unknown>[] = []
      for (const statement of statements) rows = (await client.query(statement)).rows
      return rows
    } finally {
      await client.end()
    }
  }

  /** Kills all server processes at once, as a crash of the machine would. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const ended = once(child, 'close')
    // After SIGQUIT, the server ends its processes without further writes. The next start recovers from its log.
    child.kill('SIGQUIT')
    await ended
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** Ports below this number have fixed uses. */
const portMin = 10_000

/**
 * The first port that the system assigns to programs which listen on port 0 or connect. Linux reports it; other systems
 * begin at the same port, or later.
 */
function firstAssignedPort(): number {
  try {
    return Number.parseInt(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'), 10)
  } catch {
    return 32_768
  }
}

/**
 * Returns a port without a listener. The system does not assign this port to other programs, so it is still free when
 * the caller listens on it, however late this is.
 */
export async function freePort(): Promise<number> {
  const end = firstAssignedPort()
  for (;;) {
    const port = end > portMin ? randomInt(portMin, end) : 0
    const probe = createServer().listen(port, '127.0.0.1')
    try {
      await once(probe, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    const { port: free } = probe.address() as { port: number }
    probe.close()
    await once(probe, 'close')
    return free
  }
}
