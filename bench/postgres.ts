// A temporary PostgreSQL with default settings in a folder of its own, reachable through a socket there.

import { execFile, spawn } from 'node:child_process'
import { chownSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { unprivileged } from '../tests/support/postgres.ts'
import { document } from './documents.ts'

export interface Postgres {
  /** The folder of its socket. */
  readonly socket: string
  /** The process that is the parent of all backends. */
  readonly pid: number
  stop(): Promise<void>
}

/** Runs below `parent`, with `count` documents and the same two indexes as Terrarium. */
export async function startPostgres(programs: string, parent: string, count: number): Promise<Postgres> {
  const folder = await mkdtemp(join(parent, 'terrarium-bench-postgres-'))
  const user = unprivileged()
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  await promisify(execFile)(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', 'bench'], {
    ...user,
    cwd: folder,
  })
  const child = spawn(join(programs, 'postgres'), ['-D', data, '-k', folder, '-c', 'listen_addresses='], {
    ...user,
    cwd: folder,
    stdio: 'ignore',
  })
  const ended = new Promise(resolve => child.once('close', resolve))
  const stop = async () => {
    child.kill('SIGINT')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await fill(await connected(folder), count)
  } catch (cause) {
    await stop()
    throw cause
  }
  return { socket: folder, pid: child.pid as number, stop }
}

async function connected(socket: string): Promise<pg.Client> {
  for (let attempt = 0; ; attempt++) {
    const client = new pg.Client({ host: socket, user: 'bench', database: 'postgres' })
    try {
      await client.connect()
      return client
    } catch (cause) {
      if (attempt === 100) throw cause
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  }
}

async function fill(client: pg.Client, count: number): Promise<void> {
  await client.query(
    'CREATE TABLE documents (id bigserial PRIMARY KEY, key text NOT NULL, grp int NOT NULL, number int NOT NULL, data jsonb NOT NULL)',
  )
  await client.query(
    'CREATE TABLE history (id bigint NOT NULL, ts timestamptz NOT NULL, data jsonb NOT NULL, PRIMARY KEY (id, ts))',
  )
  await client.query(
    'CREATE TABLE changes (ts timestamptz NOT NULL, id bigint NOT NULL, PRIMARY KEY (ts, id))',
  )
  await client.query('CREATE INDEX ON documents (key)')
  await client.query('CREATE INDEX ON documents (grp, number, id)')
  const batch = 1000
  for (let from = 0; from < count; from += batch) {
    const documents = Array.from({ length: Math.min(batch, count - from) }, (_, index) =>
      document(from + index),
    )
    await client.query(
      `INSERT INTO documents (key, grp, number, data)
       SELECT d->>'key', (d->>'group')::int, (d->>'number')::int, d FROM jsonb_array_elements($1::jsonb) AS d`,
      [JSON.stringify(documents)],
    )
  }
  await client.query('ANALYZE documents')
  await client.end()
}
