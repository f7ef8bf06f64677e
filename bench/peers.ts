// The case `peers`: what others who serve documents over HTTP do with the same requests, for a reader who wonders what they would
// get instead. None is a dependency of this project: each is measured when `--peers` names a folder in which it was
// installed (`npm install parse-server pouchdb-server`), with the strongest durability that it has.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { keyOfNewDatabase, query } from '../tests/support/http.ts'
import { freePort, noPostgres, PostgresServer } from '../tests/support/postgres.ts'
import { startProcess } from '../tests/support/server-process.ts'
import { cases } from './cases.ts'
import { type Baseline, startBaseline } from './child.ts'
import { createSchema, document, groupSize, loadDocuments } from './documents.ts'
import { passwordCost } from './logins.ts'
import { type LoadPlan, type LoadResult, measure, post, processesOf } from './measure.ts'
import { heading, line } from './report.ts'

export interface PeersOptions {
  /** Where peers are installed. */
  readonly peers: string | undefined
  /** Where data directories are made. */
  readonly folder: string
  readonly documents: number
  readonly plan: Pick<LoadPlan, 'connections' | 'seconds' | 'warmupSeconds'>
}

const kinds = ['get', 'create', 'page of 64', 'login'] as const
type Kind = (typeof kinds)[number]

/** A service with the documents and one user. */
interface Peer {
  readonly name: string
  readonly durability: string
  readonly port: number
  readonly pid: number
  readonly requests: Readonly<Record<Kind, readonly string[]>>
  stop(): Promise<void>
}

const user = { username: 'somebody', password: 'a password' }
const pageSize = 64
const different = 500
const newFrom = 1_000_000_000

const few = <T>(make: (n: number) => T): readonly T[] => Array.from({ length: different }, (_, n) => make(n))

function get(path: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}\r\n`
}

/** Asks a peer for something that has to succeed. */
async function ask(url: string, body: unknown, headers: Record<string, string> = {}, method = 'POST') {
  const type = { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers: { ...type, ...headers }, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`)
  return JSON.parse(text) as unknown
}

async function terrarium(data: string, documents: number): Promise<Peer> {
  const server = await startProcess({ data, env: { TERRARIUM_PASSWORD_COST: String(passwordCost) } })
  const secret = await keyOfNewDatabase(server, 'bench', 'server')
  await createSchema(server.url, secret)
  const ids = await loadDocuments(server.url, secret, 0, documents)
  await query(server, secret, { create_collection: { object: { name: 'users' } } })
  const person = { ref: { collection: 'users' }, id: '1' }
  const credentials = { object: { password: user.password } }
  await query(server, secret, { create: person, params: { object: { credentials } } })
  const headers = { authorization: `Bearer ${secret}` }
  const of = (name: string) =>
    (cases.find(each => each.name === name)?.requests({ ids }) ?? []).map(each =>
      post('/', each.query, headers),
    )
  const login = { login: person, params: { object: { password: user.password } } }
  return {
    name: 'Terrarium',
    durability: 'each commit flushed',
    port: Number(new URL(server.url).port),
    pid: server.pid,
    requests: {
      get: of('get'),
      create: of('create'),
      'page of 64': of('page-get'),
      login: [post('/', login, headers)],
    },
    stop: () => server.stop(),
  }
}

/** Parse Server over PostgreSQL with its default settings. */
async function parseServer(folder: string, data: string, documents: number): Promise<Peer> {
  const postgres = await PostgresServer.start({ durable: true })
  const env = { BENCH_PEERS: folder, BENCH_STORE: postgres.url(), BENCH_DATA: data }
  const service = await startBaseline('peer-parse.ts', env)
  const stop = async () => {
    await service.stop()
    await postgres.stop()
  }
  try {
    const name = `Parse Server ${versionOf(folder, 'parse-server')} + PostgreSQL`
    return { ...(await parsePeer(service, postgres, documents)), name, stop }
  } catch (cause) {
    await stop()
    throw cause
  }
}

/** Fills a Parse Server. */
async function parsePeer(
  service: Baseline,
  postgres: PostgresServer,
  documents: number,
): Promise<Omit<Peer, 'name' | 'stop'>> {
  const url = `http://127.0.0.1:${service.port}/parse`
  const headers = { 'x-parse-application-id': 'bench' }
  const ids: string[] = []
  for (let from = 0; from < documents; from += groupSize) {
    const made = await Promise.all(
      Array.from({ length: groupSize }, (_, n) =>
        ask(`${url}/classes/documents`, document(from + n), headers),
      ),
    )
    ids.push(...made.map(each => (each as { readonly objectId: string }).objectId))
  }
  await postgres.query('CREATE INDEX ON documents (key)')
  await postgres.query('CREATE INDEX ON documents ("group", number)')
  await ask(`${url}/users`, user, headers)
  const groups = Math.floor(documents / groupSize)
  const page = (group: number) =>
    `/parse/classes/documents?where=${encodeURIComponent(`{"group":${group}}`)}&order=number&limit=${pageSize}`
  return {
    durability: 'each commit flushed',
    port: service.port,
    pid: service.pid,
    requests: {
      get: few(n => get(`/parse/classes/documents/${ids[(n * 7919) % ids.length]}`, headers)),
      create: few(n => post('/parse/classes/documents', document(newFrom + n), headers)),
      'page of 64': few(n => get(page(n % groups), headers)),
      login: [post('/parse/login', user, headers)],
    },
  }
}

/** PouchDB Server with its default store, LevelDB, for which it has no setting that flushes. */
async function pouchServer(folder: string, data: string, documents: number): Promise<Peer> {
  const port = await freePort()
  const program = join(folder, 'node_modules/pouchdb-server/bin/pouchdb-server')
  const words = [program, '--port', String(port), '--dir', data, '--host', '127.0.0.1']
  const child = spawn(process.execPath, words, { cwd: data, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  await serves(child)
  const url = `http://127.0.0.1:${port}`
  const key = (n: number) => `key-${String(n).padStart(12, '0')}`
  await ask(`${url}/bench`, {}, {}, 'PUT')
  for (let from = 0; from < documents; from += groupSize) {
    const docs = Array.from({ length: groupSize }, (_, n) => ({ _id: key(from + n), ...document(from + n) }))
    await ask(`${url}/bench/_bulk_docs`, { docs })
  }
  const name = user.username
  const person = { name, password: user.password, roles: [], type: 'user' }
  await ask(`${url}/_users/org.couchdb.user:${name}`, person, {}, 'PUT')
  const page = (from: number) =>
    `/bench/_all_docs?include_docs=true&limit=${pageSize}&startkey=${encodeURIComponent(`"${key(from)}"`)}`
  return {
    name: `PouchDB Server ${versionOf(folder, 'pouchdb-server')}`,
    durability: 'LevelDB, not flushed',
    port,
    pid: child.pid as number,
    requests: {
      get: few(n => get(`/bench/${key((n * 7919) % documents)}`)),
      create: few(n => post('/bench', document(newFrom + n))),
      'page of 64': few(n => get(page((n * groupSize) % (documents - pageSize)))),
      login: [post('/_session', { name, password: user.password })],
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function versionOf(folder: string, name: string): string {
  const file = join(folder, 'node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** Resolves when PouchDB Server says where it listens. */
async function serves({ stdout }: ChildProcess): Promise<void> {
  if (stdout === null) throw new Error('nothing can be read of PouchDB Server')
  while (!String((await once(stdout, 'data'))[0]).includes('has started'));
  stdout.resume()
}

/** Measures a peer and stops it; prints a line for each kind of request. */
async function measurePeer(peer: Peer, plan: PeersOptions['plan'], ours?: Results): Promise<Results> {
  const results = new Map<Kind, LoadResult>()
  console.log(`${peer.name} (${peer.durability})`)
  try {
    for (const kind of kinds) {
      const requests = peer.requests[kind]
      const result = await measure({ ...plan, port: peer.port, requests, pids: processesOf(peer.pid) })
      const beside = ours?.get(kind)
      const ratio = beside
        ? `   Terrarium ${(beside.requestsPerSecond / result.requestsPerSecond).toFixed(2)} of it`
        : ''
      console.log(`${line(`  ${kind}`, result)}${ratio}`)
      results.set(kind, result)
    }
  } finally {
    await peer.stop()
  }
  return results
}

type Results = ReadonlyMap<Kind, LoadResult>

/** Prints what Terrarium does and what each installed peer does; those that are not there are named. */
export async function measurePeers({ documents, folder, peers, plan }: PeersOptions): Promise<void> {
  console.log(`\npeers: the same requests to others, ${availableParallelism()} cores for all\n${heading}`)
  const data = await mkdtemp(join(folder, 'terrarium-bench-'))
  const installed = (name: string) => peers !== undefined && existsSync(join(peers, 'node_modules', name))
  const none = (name: string, reason: string) => console.log(`${name}: NOT MEASURED, ${reason}`)
  try {
    const ours = await measurePeer(await terrarium(join(data, 'own'), documents), plan)
    if (!installed('parse-server')) none('Parse Server', 'it is not installed below --peers')
    else if (noPostgres !== undefined) none('Parse Server', noPostgres)
    else await measurePeer(await parseServer(peers as string, data, documents), plan, ours)
    if (!installed('pouchdb-server')) none('PouchDB Server', 'it is not installed below --peers')
    else await measurePeer(await pouchServer(peers as string, data, documents), plan, ours)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
}
