// A throw-away PostgreSQL for tests: real server processes in a folder of their own, reached through a socket there.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { eventually } from './eventually.ts'

const run = promisify(execFile)

/** Why tests that need a PostgreSQL server cannot run here; undefined when they can. */
export const noPostgres: string | undefined =
  programs() === undefined ? 'the PostgreSQL server programs are not installed' : undefined

/** The folder with PostgreSQL's programs, newest first; undefined when it is not installed. */
function programs(): string | undefined {
  const found = globSync('/usr/lib/postgresql/*/bin/initdb').sort((a, b) =>
    b.localeCompare(a, 'en', { numeric: true }),
  )
  return found[0]?.slice(0, -'/initdb'.length)
}

/** PostgreSQL refuses to run as root: then its own user runs it. */
function unprivileged(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Bytes of a segment of the write-ahead log of a server that is not durable. */
export const walSegmentBytes = 1 << 20

/** A server that tests start, kill and start again. */
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

  /** Makes a cluster and starts it; `durable`: with fsync, as in earnest. */
  static async start({ durable = false } = {}): Promise<PostgresServer> {
    const programFolder = programs()
    if (programFolder === undefined) throw new Error(noPostgres)
    const folder = mkdtempSync(join(tmpdir(), 'terrarium-postgres-'))
    const server = new PostgresServer(folder, await freePort(), programFolder)
    if (server.#user) chownSync(folder, server.#user.uid, server.#user.gid)
    // Small segments: a new cluster writes less, and a full disk takes less to provoke.
    const segments = durable ? [] : [`--wal-segsize=${walSegmentBytes >> 20}`]
    const flags = ['-D', server.data, '-A', 'trust', '-U', 'tests', '--no-sync', ...segments]
    await run(join(programFolder, 'initdb'), flags, {
      ...server.#user,
      cwd: folder,
    })
    await server.run(...(durable ? ['-c', 'fsync=on'] : []))
    return server
  }

  /** The process that starts the others. */
  get pid(): number {
    return this.#child?.pid as number
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  /**
   * Makes a standby that receives everything this server commits, and starts it; commits here wait for it from now on.
   */
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

  /** Lets no file of processes started from now on grow past `bytes`, as on a full disk; Infinity takes that back. */
  limitFiles(bytes: number): void {
    const limit = Number.isFinite(bytes) ? String(bytes) : 'unlimited'
    execFileSync('prlimit', ['--pid', String(this.pid), `--fsize=${limit}:`], this.#user ?? {})
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(true, 60)')
  }

  /** Where a database of this server is reached, over TCP. */
  url(database = 'postgres'): string {
    return `postgres://tests@127.0.0.1:${this.port}/${database}`
  }

  /** Starts the server process, without fsync (what a killed process wrote stays); resolves when it takes connections. */
  async run(...settings: readonly string[]): Promise<void> {
    const child = spawn(
      join(this.#programs, 'postgres'),
      ['-D', this.data, '-k', this.folder, '-h', '127.0.0.1', '-p', String(this.port), '-F', ...settings],
      { ...this.#user, cwd: this.folder, stdio: 'ignore' },
    )
    this.#child = child
    for (let attempt = 0; ; attempt++) {
      try {
        await this.query('SELECT 1')
        return
      } catch (cause) {
        if (attempt === 300 || child.exitCode !== null) throw cause
        await new Promise(resolve => setTimeout(resolve, 50))
      }
    }
  }

  /** Where {@link runWithTls} puts the certificate. */
  get certificateFile(): string {
    return join(this.folder, 'certificate.pem')
  }

  /** {@link run} with TLS for clients that ask for it. */
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

  /** Runs statements one after the other on a connection of its own. */
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
    // SIGQUIT: the server ends its processes without writing anything more; the next start recovers from its log.
    child.kill('SIGQUIT')
    await ended
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A port that nobody listens on; the system does not give it to the next who asks. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
