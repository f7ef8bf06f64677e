// kill -9 of each kind of process at an operation of each phase of a commit: the service, a supervisor, a worker, a
// process of the slow lane. Every acknowledged write is stored afterwards, every other write is stored completely or
// not at all, and the directory is sound. The file takes more than a minute because each of its twenty cycles starts a
// service. `npm run test:soak` runs two thousand cycles.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { environmentFor, type KillPlan, type Phase, type Victim } from '../support/kill-plan.ts'
import { RandomSource, roundsToRun } from '../support/seeded.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'
import { createPair, createPairs, sides } from './pairs.ts'

const folder = folderOfFile()

/** A process that is killed, in a phase, at one of its first operations. */
interface Target {
  readonly victim: Victim
  readonly phase: Phase
  readonly operations: number
}

/** Operations that need whole segments; the documents are larger then. */
const segmentPhases: readonly Phase[] = ['rotate', 'recycle', 'apply']

const committer: readonly Target[] = [
  { victim: 'committer', phase: 'append', operations: 60 },
  { victim: 'committer', phase: 'flush', operations: 60 },
  { victim: 'committer', phase: 'acknowledge', operations: 150 },
  { victim: 'committer', phase: 'rotate', operations: 4 },
  { victim: 'committer', phase: 'apply', operations: 5 },
  { victim: 'committer', phase: 'replay', operations: 6 },
  { victim: 'committer', phase: 'recycle', operations: 2 },
]
const worker: readonly Target[] = [
  { victim: 'worker', phase: 'read', operations: 40 },
  { victim: 'worker', phase: 'acknowledge', operations: 80 },
]
const lane: readonly Target[] = [
  { victim: 'slow lane', phase: 'read', operations: 20 },
  { victim: 'slow lane', phase: 'acknowledge', operations: 20 },
]

interface Setup {
  readonly name: string
  readonly flags: readonly string[]
  readonly targets: readonly Target[]
  readonly seed: number
}

// The slow lane evaluates all queries.
const laneFlags = ['--slow-lane-after-ms', '0']
const setups: readonly Setup[] = [
  { name: 'one process', flags: [], targets: committer, seed: 61 },
  { name: '--workers 2', flags: ['--workers', '2'], targets: [...worker, ...committer], seed: 62 },
  { name: 'slow lane', flags: laneFlags, targets: lane, seed: 63 },
  { name: 'slow lanes of --workers 2', flags: ['--workers', '2', ...laneFlags], targets: lane, seed: 64 },
]

const clients = 8
/**
 * Acknowledged writes of a cycle after which all processes are killed, with short and with long texts. On a busy
 * machine, more writes share an operation, so more writes are needed to reach the planned operation.
 */
const writesMax = { short: 1000, long: 200 }
/** Acknowledged writes after a kill that the service survives. */
const writesAfterKill = 30
/** Text of a document where segments have to be filled, and how many writes fill two. */
const longText = 'x'.repeat(100_000)
const firstWrites = 90

/**
 * A query that only reads. A worker needs the newest records of the log for it, but not for the writes, which it
 * forwards.
 */
const readPairs = { paginate: { match: { index: 'by_pair' } }, size: 1 }

/** The writes of a cycle. */
interface Load {
  readonly prefix: string
  readonly text: string
  readonly isOver: () => boolean
  readonly reads?: boolean
}

/** A data directory whose service is killed again and again. */
class KilledDirectory {
  readonly #data: string
  readonly #flags: readonly string[]
  readonly #source: RandomSource
  readonly #acknowledged = new Set<string>()
  #secret = ''
  #cycles = 0
  /** The targets that were not killed at their operation. */
  readonly missed: string[] = []

  constructor(data: string, { flags }: Setup, source: RandomSource) {
    this.#data = data
    this.#flags = flags
    this.#source = source
  }

  async prepare(): Promise<void> {
    const server = await startProcess({ data: this.#data, flags: this.#flags })
    this.#secret = await keyOfNewDatabase(server, 'crash', 'server')
    await createPairs(server, this.#secret)
    // Two segments, so that later ones use their files again.
    await this.#write(server, {
      prefix: 'first',
      text: longText,
      isOver: () => this.#acknowledged.size >= firstWrites,
    })
    await server.kill()
  }

  /** Starts the service, compares its content, and writes until the target is killed; then kills the rest. */
  async cycle({ operations, phase, victim }: Target): Promise<void> {
    const source = this.#source
    const marker = join(this.#data, `killed-${this.#cycles++}`)
    const share = source.pick([0, source.below(1000) / 1000, 1])
    const plan: KillPlan = { victim, phase, operation: source.below(operations), share, marker }
    const server = await this.#start(plan)
    if (server !== undefined) {
      const length = segmentPhases.includes(phase) ? 'long' : 'short'
      const sizeBefore = this.#acknowledged.size
      let sizeAtKill: number | undefined
      const isOver = () => {
        if (existsSync(marker)) sizeAtKill ??= this.#acknowledged.size
        const { size } = this.#acknowledged
        return size >= Math.min(sizeBefore + writesMax[length], (sizeAtKill ?? size) + writesAfterKill)
      }
      const isCompared = await this.compare(server).then(
        () => true,
        error => {
          if (error instanceof assert.AssertionError || !existsSync(marker)) throw error
          return false
        },
      )
      const text = length === 'long' ? longText : ''
      const prefix = `${this.#cycles}`
      if (isCompared) await this.#write(server, { prefix, text, isOver, reads: phase === 'read' })
      await server.kill()
    }
    if (!existsSync(marker)) this.missed.push(`${victim} at ${phase} ${plan.operation}`)
    // Otherwise the next service replays what this one has left.
    if (source.below(2) === 0) await assertSound(this.#data)
  }

  /** Starts the service; undefined when it was killed before it was ready. */
  async #start(plan: KillPlan): Promise<ServerProcess | undefined> {
    try {
      return await startProcess({ data: this.#data, flags: this.#flags, env: environmentFor(plan) })
    } catch (error) {
      if (!existsSync(plan.marker)) throw error
      return undefined
    }
  }

  /** Writes with several clients until `isOver` returns true. `reads`: each client also reads after each write. */
  async #write(server: ServerProcess, { isOver, prefix, reads = false, text }: Load): Promise<void> {
    let isDead = false
    const client = async (number: number) => {
      for (let count = 0; !isDead && !isOver(); count++) {
        const pair = `${prefix}/${number}/${count}`
        const request = { secret: this.#secret, query: createPair(pair, { text }) }
        const answer = await send(server, request).catch(() => undefined)
        if (answer === undefined) isDead = !(await isAlive(server))
        // 503: the process that would have committed, or that evaluated, is gone.
        else if (answer.status !== 503) {
          assert.equal(answer.status, 201, answer.text)
          this.#acknowledged.add(pair)
        }
        if (reads && !isDead)
          await send(server, { secret: this.#secret, query: readPairs }).catch(() => undefined)
      }
    }
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  }

  /** Asserts that everything acknowledged is stored, and nothing in part. */
  async compare(server: ServerProcess): Promise<void> {
    const page = (await query(server, this.#secret, {
      paginate: { match: { index: 'by_pair' } },
      size: 100_000,
    })) as { readonly data: readonly (readonly [string, string])[] }
    const stored = Map.groupBy(page.data, ([pair]) => pair)
    for (const [pair, entries] of stored)
      assert.deepEqual(entries.map(([, side]) => side).sort(), sides, `a part of ${pair}`)
    const lost = [...this.#acknowledged].filter(pair => !stored.has(pair))
    assert.deepEqual(lost, [])
  }

  /** Compares the content once more, without a kill. */
  async end(): Promise<void> {
    const server = await startProcess({ data: this.#data, flags: this.#flags })
    await this.compare(server)
    await server.stop()
    await assertSound(this.#data)
  }
}

/** Returns whether a service accepts connections. */
async function isAlive(server: ServerProcess): Promise<boolean> {
  try {
    process.kill(server.pid, 0)
    return (await fetch(`${server.url}/ping?timeout=60000`)).ok
  } catch {
    return false
  }
}

for (const setup of setups) {
  const { name, seed, targets } = setup
  test(`no acknowledged write is lost, whichever process is killed in whatever phase (${name})`, async context => {
    const missed: string[] = []
    const passes = roundsToRun(1)
    for (let pass = 0; pass < passes; pass++) {
      const data = join(folder, name)
      const directory = new KilledDirectory(data, setup, new RandomSource(seed + 1000 * pass))
      await directory.prepare()
      for (const target of targets) await directory.cycle(target)
      await directory.end()
      await rm(data, { recursive: true })
      missed.push(...directory.missed)
    }
    context.diagnostic(`not killed at their operation: ${missed.length === 0 ? 'none' : missed.join(', ')}`)
    assert.ok(missed.length <= (passes * targets.length) / 2)
  })
}
