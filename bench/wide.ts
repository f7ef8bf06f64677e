// The case `wide`: data that is much larger or more numerous than usual, such as a document of 5 MB. Measures the CPU
// time and the longest duration of requests to this data, and the latency of another database's reads meanwhile.

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseExpression } from '../src/fql4/text/index.ts'
import { writeJson } from '../src/values/write-json.ts'
import { type HttpAnswer, keyOfNewDatabase, query, runText, send, sendFql } from '../tests/support/http.ts'
import { repository } from '../tests/support/program.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { memoryMebibytes, processesOf } from './measure.ts'
import { processorSeconds } from './processor-time.ts'
import { type Reader, readerOf } from './reader.ts'
import { mainThreadTimes } from './size-requests.ts'
import { untilQuiet } from './size-work.ts'
import { callerKinds } from './wide-callers.ts'
import { dataKinds } from './wide-data.ts'
import {
  type FqlOptions,
  type StepOptions,
  type StepWork,
  type WideKind,
  type WideRun,
  wait,
} from './wide-run.ts'

/** Interval between two reads of the other database. */
const everyMs = 10
/** Maximum number of runs of a step, alone and again beside the reads of the other database. */
const runsMax = 20
/** No run of a step begins after this time, alone and again beside the reads. */
const runningMs = 1500
/** Wait after a step, for the background work that it began. */
const restMs = 50
/** Duration of the reads that compile code, and then of the measurement of the reads' own CPU time. */
const controlMs = 3000

const program = join(repository, 'bin/terrarium.js')

export interface WideOptions {
  readonly folder: string
  /** Words in the names of kinds; all kinds when absent. */
  readonly kinds?: readonly string[] | undefined
  /** See {@link WideRun.scale}. */
  readonly scale: number
}

/** Prints a table for each kind. Each kind has a service of its own. */
export async function measureWide({ folder, kinds, scale }: WideOptions): Promise<void> {
  console.log('\nwide: requests to large things, and the reads of another database meanwhile')
  for (const kind of [...dataKinds, ...callerKinds]) {
    if (kinds?.some(word => kind.name.includes(word)) === false) continue
    console.log(`\n${kind.name}`)
    console.log(tableRow('', ['times', 'longest ms', 'CPU ms', 'main ms', 'others p99', 'max']))
    const data = await mkdtemp(join(folder, 'terrarium-bench-'))
    const server = await startProcess({ program, data })
    try {
      const reader = await readerOf(server, everyMs)
      await new KindRun(kind, server, reader, scale).run()
      await reader.close()
    } finally {
      await server.stop()
      await rm(data, { recursive: true, force: true })
    }
  }
}

function tableRow(name: string, cells: readonly string[]): string {
  return `${name.padEnd(58)}${cells.map(cell => cell.padStart(11)).join('')}`
}

/** CPU milliseconds of all processes of the service, and of its main thread. */
interface CpuTimes {
  readonly allMs: number
  readonly mainMs: number
}

/** Measurements of a step. */
interface Measured extends CpuTimes {
  /** The duration of the step, and of the wait after it. */
  readonly ms: number
  /** Milliseconds of the reads of the other database. */
  readonly p99: number
  readonly max: number
}

class KindRun implements WideRun {
  readonly server: ServerProcess
  readonly scale: number
  secret = ''
  readonly #kind: WideKind
  readonly #reader: Reader
  /** CPU milliseconds of the reads of the other database, for each millisecond. */
  #control: CpuTimes = { allMs: 0, mainMs: 0 }
  #converted: { readonly expression: string; readonly body: string } | undefined

  constructor(kind: WideKind, server: ServerProcess, reader: Reader, scale: number) {
    this.#kind = kind
    this.server = server
    this.#reader = reader
    this.scale = scale
  }

  async run(): Promise<void> {
    this.secret = await keyOfNewDatabase(this.server, 'wide', 'admin')
    await query(this.server, this.secret, { create_collection: { object: { name: 'c' } } })
    await this.#beside(() => wait(controlMs))
    await untilQuiet(() => processesOf(this.server.pid))
    const beside = await this.#beside(() => wait(controlMs))
    this.#control = { allMs: beside.allMs / beside.ms, mainMs: beside.mainMs / beside.ms }
    this.#print('nothing', 1, controlMs, beside)
    await this.#kind.run(this)
  }

  text(expression: string): Promise<unknown> {
    return runText(this.server, this.secret, expression)
  }

  query(name: string, expression: (n: number) => string, options: StepOptions = {}): Promise<void> {
    const { secret = this.secret } = options
    const work: StepWork = async n =>
      remarkOn(await answerTo(() => send(this.server, { secret, body: this.#bodyOf(expression(n)) })))
    return this.step(name, work, options)
  }

  fql(name: string, expression: (n: number) => string, options: FqlOptions = {}): Promise<void> {
    const { arguments: args = {}, headers = {}, secret = this.secret } = options
    const work: StepWork = async n =>
      remarkOn(await sendFql(this.server, secret, expression(n), args, headers))
    return this.step(name, work, options)
  }

  /** Keeps the last conversion: if all runs of a step use one expression, they do not measure its conversion. */
  #bodyOf(expression: string): string {
    if (this.#converted?.expression !== expression)
      this.#converted = { expression, body: writeJson(parseExpression(expression).json) }
    return this.#converted.body
  }

  async step(name: string, work: StepWork, { isOnce = false }: StepOptions = {}): Promise<void> {
    // The first run compiles code, and starts processes of the slow lane.
    if (!isOnce) await work(0)
    let remark: string | undefined
    let longestMs = 0
    let runs = 0
    const repeat = async () => {
      const began = performance.now()
      const from = runs
      do {
        const beganOne = performance.now()
        remark = await work(++runs)
        longestMs = Math.max(longestMs, performance.now() - beganOne)
      } while (!isOnce && runs - from < runsMax && performance.now() - began < runningMs)
      return runs - from
    }
    // A step that is repeated is first measured without the reads of the other database.
    const alone = isOnce ? undefined : await this.#alone(repeat)
    const beside = await this.#beside(repeat)
    this.#print(name, runs, longestMs, beside, remark, alone)
  }

  /** Returns the mean CPU times of a run. */
  async #alone(repeat: () => Promise<number>): Promise<CpuTimes> {
    const before = this.#cpuTimes()
    const runs = await repeat()
    await wait(restMs)
    const after = this.#cpuTimes()
    return { allMs: (after.allMs - before.allMs) / runs, mainMs: (after.mainMs - before.mainMs) / runs }
  }

  async background(name: string, items: number, done: () => Promise<unknown>): Promise<void> {
    let ms = 0
    const beside = await this.#beside(async () => {
      const began = performance.now()
      const result = await done()
      ms = performance.now() - began - (typeof result === 'number' ? result : 0)
    })
    this.#print(name, 1, ms, beside, `${((items / ms) * 1000).toFixed(0)}/s`)
  }

  /** Measures the CPU times during the work, and the reads of the other database meanwhile. */
  async #beside(work: () => Promise<unknown>): Promise<Measured> {
    this.#reader.begin()
    const began = performance.now()
    const before = this.#cpuTimes()
    await work()
    await wait(restMs)
    const after = this.#cpuTimes()
    const ms = performance.now() - began
    const { max, p99 } = await this.#reader.stop()
    return { ms, allMs: after.allMs - before.allMs, mainMs: after.mainMs - before.mainMs, max, p99 }
  }

  #cpuTimes(): CpuTimes {
    const { pid } = this.server
    return { allMs: processorSeconds([pid]) * 1000, mainMs: mainThreadTimes(pid).ranMs }
  }

  /** Without `alone`, prints the CPU times beside the reads, less the estimated CPU times of the reads. */
  #print(
    name: string,
    runs: number,
    longestMs: number,
    { allMs, mainMs, max, ms, p99 }: Measured,
    remark = '',
    alone?: CpuTimes,
  ): void {
    const own = (all: number, perMs: number) => Math.max(0, (all - perMs * ms) / runs)
    const cells = [
      String(runs),
      longestMs.toFixed(1),
      (alone?.allMs ?? own(allMs, this.#control.allMs)).toFixed(1),
      (alone?.mainMs ?? own(mainMs, this.#control.mainMs)).toFixed(1),
      p99.toFixed(0),
      max.toFixed(0),
    ]
    console.log(`${tableRow(name, cells)}  ${remark}`)
  }

  memory(when: string): void {
    const own = processesOf(this.server.pid).map(pid => memoryMebibytes(pid).own.toFixed(0))
    console.log(`private memory ${when}: ${own.join(' + ')} MiB`)
  }
}

/** The service closes the connection of a request that is too large, so the client may fail before it reads the response. */
async function answerTo(request: () => Promise<HttpAnswer>): Promise<Pick<HttpAnswer, 'status' | 'text'>> {
  try {
    return await request()
  } catch (error) {
    return { status: 599, text: `no response: ${(error as Error).cause ?? error}` }
  }
}

const remarkLength = 160

/** The length of a response, or the beginning of an error. */
function remarkOn({ status, text }: { readonly status: number; readonly text: string }): string {
  return status < 300 ? `${(text.length / 1024).toFixed(0)} KiB` : `${status} ${text.slice(0, remarkLength)}`
}
