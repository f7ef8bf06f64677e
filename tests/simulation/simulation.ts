// Runs many clients against the engine. Their requests begin, proceed and end in an order drawn from a seed. The judge
// checks all responses.

import assert from 'node:assert/strict'
import { epoch, micros } from '../../src/base/micros.ts'
import type { QueryResponse } from '../../src/engine/engine-contract.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import { Background } from '../../src/storage/store/background.ts'
import { indexBuilderLimits } from '../../src/storage/store/index-builder.ts'
import { openTestEngine, type TestEngine } from '../support/engine.ts'
import { type DocumentName, Model } from '../support/model.ts'
import { ManualClock, RandomSource, seededEnvironment } from '../support/seeded.ts'
import type { Fate, Outcome, SteppedStore } from '../support/seeded-store.ts'
import { judge, type Request } from './judge.ts'
import {
  account,
  accounts,
  counter,
  type Operation,
  openingBalance,
  type Situation,
  someOperation,
  user,
} from './operations.ts'
import * as wire from './wire.ts'

export interface SimulationOptions {
  readonly seed: number
  readonly kv: KeyValueStore
  /** The same store, if its commits proceed in steps. */
  readonly stepped?: SteppedStore
  readonly steps: number
  /** The possible outcomes of failing commits. If absent, no commit fails. */
  readonly faults?: readonly Fate[]
  /** The rules to judge by. The default is the correct model. */
  readonly model?: Model
}

const clients = 6
const second = 1_000_000
/** Notes that no client changes. With so many notes, an index is built in the background. */
const fillers = indexBuilderLimits.synchronousIndexBuildMax

/** Runs a simulation to its end, and judges it. Throws at the first impossible response. */
export async function simulate(options: SimulationOptions): Promise<void> {
  try {
    await new Simulation(options).run()
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`replay with SEED=${options.seed}: ${message}`, { cause })
  }
}

class Simulation {
  readonly #options: SimulationOptions
  readonly #random: RandomSource
  readonly #clock = new ManualClock()
  readonly #engine: TestEngine
  readonly #background: Background
  readonly #model: Model
  readonly #requests: Request[] = []
  readonly #open = new Set<Promise<void>>()
  /** The times in earlier responses. */
  readonly #times: number[] = []
  readonly #made: DocumentName[] = []
  readonly #tagIndexes: string[] = ['no_such_index']
  #newestAnswer = 0
  #isBackgroundBusy = false
  /** The outcome of the commit that is being answered now. */
  #answering: Outcome | undefined

  constructor(options: SimulationOptions) {
    this.#options = options
    this.#random = new RandomSource(options.seed)
    this.#model = options.model ?? new Model()
    const environment = seededEnvironment(options.seed, this.#clock)
    this.#engine = openTestEngine({ kv: options.kv, environment })
    this.#background = new Background(this.#engine.store)
  }

  async run(): Promise<void> {
    await this.#prepare()
    for (let step = 0; step < this.#options.steps; step++) await this.#step()
    await this.#drain('as drawn')
    await this.#finishBackground()
    for (let last = 0; last < 30; last++) this.#begin(someOperation(this.#situation()))
    await this.#drain('applied')
    await this.#finishBackground()
    judge(this.#requests, this.#model, this.#engine.store.changes(epoch, Number.MAX_SAFE_INTEGER))
    await this.#finish()
  }

  /** Creates collections, the unique index, accounts with money and some notes. */
  async #prepare(): Promise<void> {
    const names = ['accounts', 'counters', 'users', 'notes']
    await this.#setUp(names.map(name => ({ create_collection: wire.object({ name }) })))
    const index = {
      name: 'by_mail',
      source: wire.collection('users'),
      terms: [wire.object({ field: ['data', 'mail'] })],
      unique: true,
    }
    await this.#setUp({ create_index: wire.object(index) })
    this.#model.indexes.set('by_mail', { sources: ['users'], term: 'mail', unique: true, active: true })
    const opening = Array.from({ length: accounts }, (_, index) => account(index + 1))
    const documents = [
      ...opening.map(name => ({ name, data: { balance: openingBalance } })),
      { name: counter, data: { n: 0 } },
      ...Array.from({ length: fillers }, (_, index) => ({
        name: { collection: 'notes', id: BigInt(1000 + index) },
        data: { tags: ['filler'], n: index % 7 },
      })),
    ]
    const ts = await this.#setUp(
      documents.map(({ data, name }) => ({ create: wire.reference(name), params: wire.dataOf(data) })),
    )
    for (const { data, name } of documents) this.#model.setVersion(name, { ts, data })
    this.#times.push(ts)
  }

  /** Runs a query on its own, and returns its time. */
  async #setUp(query: wire.Wire): Promise<number> {
    const answer = this.#engine.send(query as object)
    this.#track(answer)
    await this.#drain('applied')
    const { body, status, txnTime } = await answer
    assert.ok(status < 300, body)
    return txnTime
  }

  async #step(): Promise<void> {
    const dice = this.#random.below(10)
    if (dice < 5 && this.#open.size < clients) this.#begin(someOperation(this.#situation()))
    else if (dice === 5) this.#clock.advance(this.#random.below(3) * this.#random.below(second))
    else if (dice === 6) this.#runBackground()
    else await this.#proceed(this.#someFate())
  }

  #situation(): Situation {
    const random = this.#random
    return {
      random,
      now: this.#clock.now(),
      pastTime: () => random.pick(this.#times),
      madeDocument: () => (this.#made.length === 0 ? undefined : random.pick(this.#made)),
      tagIndex: () => random.pick(this.#tagIndexes),
      newTagIndex: () => {
        const name = `by_tag_${this.#tagIndexes.length}`
        this.#tagIndexes.push(name)
        return name
      },
    }
  }

  #begin(operation: Operation): void {
    const request: Request = { operation, notBefore: this.#newestAnswer, answer: undefined, fault: undefined }
    this.#requests.push(request)
    const answer = this.#engine.engine.query(
      {
        authorization: 'Bearer the-root-secret-of-a-test',
        language: '4',
        dialect: '4',
        body: JSON.stringify(operation.query),
        timeoutMs: 60_000,
        linearized: this.#random.below(8) === 0,
        // Drivers send the newest known time; other programs send none.
        ...(this.#random.below(2) === 0 && { lastSeenTxn: micros(this.#newestAnswer) }),
      },
      undefined,
    )
    if (answer instanceof Promise) this.#track(answer.then(given => this.#end(request, given)))
    else this.#end(request, answer)
  }

  #end(request: Request, answer: QueryResponse): void {
    request.answer = answer
    if (answer.status >= 500) {
      request.fault = this.#answering
      return
    }
    this.#newestAnswer = Math.max(this.#newestAnswer, answer.txnTime)
    this.#times.push(answer.txnTime)
    if (request.operation.makesDocument && answer.status === 201) {
      this.#made.push(user(BigInt(JSON.parse(answer.body).resource.ref['@ref'].id)))
    }
  }

  #runBackground(): void {
    if (this.#isBackgroundBusy) return
    this.#isBackgroundBusy = true
    const step = this.#background.runOnce().catch(error => assert.ok(this.#options.faults, error))
    this.#track(
      step.finally(() => {
        this.#isBackgroundBusy = false
      }),
    )
  }

  #track(work: Promise<unknown>): void {
    const open: Promise<void> = work.then(() => {
      this.#open.delete(open)
    })
    this.#open.add(open)
  }

  #someFate(): Fate {
    const { faults } = this.#options
    return faults && this.#random.below(4) === 0 ? this.#random.pick(faults) : 'applied'
  }

  /** Waits until all open requests have ended. */
  async #drain(fate: 'applied' | 'as drawn'): Promise<void> {
    while (this.#open.size > 0) await this.#proceed(fate === 'applied' ? fate : this.#someFate())
  }

  async #finishBackground(): Promise<void> {
    this.#track(this.#background.runAll())
    await this.#drain('applied')
  }

  /** Lets an open request make progress. */
  async #proceed(fate: Fate): Promise<void> {
    const { stepped } = this.#options
    if (!stepped) {
      // The test cannot control the progress of a real disk.
      if (this.#random.below(2) === 0 && this.#open.size > 0) await Promise.race(this.#open)
      return turn()
    }
    const { stages } = stepped
    if (stages.length > 0) {
      const stage = this.#random.pick(stages)
      if (stage === 'run') stepped.run()
      else if (stage === 'apply') await this.#apply(stepped, fate)
      else this.#answering = stepped.answer()
    }
    await turn()
    this.#answering = undefined
  }

  async #apply(stepped: SteppedStore, fate: Fate): Promise<void> {
    const newest = () => this.#engine.store.changes(epoch, Number.MAX_SAFE_INTEGER).at(-1)?.time
    const before = fate === 'applied but reported as failed' ? newest() : undefined
    const outcome = await stepped.apply(fate)
    if (fate === 'applied but reported as failed' && newest() !== before) outcome.commitTime = newest()
  }

  async #finish(): Promise<void> {
    for (const name of this.#model.indexes.keys()) {
      const active = await this.#engine.query({ select: ['active'], from: { get: { index: name } } })
      assert.equal(active, true, `the index ${name} has been built`)
    }
    assert.deepEqual(this.#engine.store.check(), [])
    await this.#engine.close()
  }
}

/** Waits for a turn of the event loop, in which all work without external input completes. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
