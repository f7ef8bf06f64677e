// The case `typing`: CPU time of checks of static types. Everything runs in this process without sockets, because the
// cost of a remembered check is far below the variation of a measurement over HTTP.

import { readConfig } from '../src/app/config/read-config.ts'
import { engineOver } from '../src/app/open-engine.ts'
import type { Engine, QueryRequest } from '../src/engine/engine-contract.ts'
import { schemaOptions, schemaRequestText } from '../src/fql10/wire/schema-request.ts'
import { openServiceLog } from '../src/server/service-log.ts'
import { openMemory } from '../src/storage/kv/memory.ts'
import { median } from './measure.ts'

const rootSecret = 'secret'
/**
 * Queries of each measurement, and measurements. Short measurements in turns have the same disturbances, such as
 * garbage collection and a growing history. The first quarter is the warm-up.
 */
const queries = 100
const turns = 800
/** UTF-16 units of new queries, and their number. */
const newUnits = 1024
const newQueries = 400
/** Number of functions in the pushed schema. */
const functions = 100

type Ask = (query: string, typecheck: boolean, args?: object) => Promise<string>

/** Prints the results. */
export async function runTyping(): Promise<void> {
  const config = { ...readConfig(new Map(), {}), data: '', rootSecret, slowLane: 0, slowLaneProcesses: 0 }
  const log = openServiceLog('silent')
  const opened = engineOver({ kv: openMemory(), config, log, role: { worker: 0, background: false } })
  const { engine } = opened
  const ask = asking(engine)
  console.log('\ntyping: CPU time of checks of static types')
  await prepare(ask)
  for (const { name, query, args } of remembered) {
    const [unchecked, checked] = await inTurns(ask, query, args)
    const more = (100 * (checked / unchecked - 1)).toFixed(1)
    const times = `unchecked ${unchecked.toFixed(1)} µs, remembered ${checked.toFixed(1)} µs`
    console.log(`  ${name.padEnd(28)}${times}: ${more} % more`)
  }
  const [unchecked, checked] = await newOnes(ask)
  console.log(`  new query of 1 KB: the check takes ${((checked - unchecked) / 1000).toFixed(2)} ms`)
  console.log(`  a push of ${functions} functions takes ${(await push(engine)).toFixed(0)} ms`)
  await opened.close()
}

function asking(engine: Engine): Ask {
  return async (query, typecheck, args = {}) => {
    const { body, status } = await engine.query(
      {
        ...base,
        body: JSON.stringify({ query, arguments: args }),
        options: { format: 'simple', typecheck: String(typecheck) },
      },
      undefined,
    )
    if (status !== 200) throw new Error(body)
    return body
  }
}

const base: Omit<QueryRequest, 'body'> = {
  language: '10',
  dialect: '10',
  authorization: `Bearer ${rootSecret}`,
  timeoutMs: 60_000,
}

const remembered = [
  { name: 'a document by its id', query: 'User.byId(id)!.name', args: { id: '1' } },
  { name: 'a page of an index', query: 'User.byGroup(group) { name, age }', args: { group: 3 } },
  {
    name: 'a write',
    query: 'User.byId(id)!.update({ age: age, name: name }).age',
    args: { id: '1', age: 3, name: 'Ann' },
  },
]

async function prepare(ask: Ask): Promise<void> {
  const fields = '{ name: { signature: "String" }, age: { signature: "Int" }, group: { signature: "Int" } }'
  const indexes = '{ byGroup: { terms: [{ field: ".group" }] } }'
  await ask(`Collection.create({ name: "User", fields: ${fields}, indexes: ${indexes} })`, false)
  const each = 'i => User.create({ id: i + 1, name: "n#{i}", age: i, group: i % 10 })'
  await ask(`Array.sequence(0, 100).forEach(${each})`, false)
}

/** CPU microseconds of one query, unchecked and checked. */
async function inTurns(ask: Ask, query: string, args: object): Promise<readonly [number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let turn = 0; turn < turns; turn++) {
    for (const typecheck of turn % 2 === 0 ? [false, true] : [true, false]) {
      const micros = await cpuMicros(async () => {
        for (let n = 0; n < queries; n++) await ask(query, typecheck, args)
      })
      if (turn >= turns / 4) times[typecheck ? 1 : 0].push(micros / queries)
    }
  }
  return [median(times[0]), median(times[1])]
}

async function cpuMicros(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { system, user } = process.cpuUsage(before)
  return system + user
}

/** CPU microseconds of a new query, unchecked and checked. */
async function newOnes(ask: Ask): Promise<readonly [number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let n = 0; n < newQueries; n++) {
    for (const typecheck of [false, true]) {
      let text = ''
      for (let at = 0; text.length < newUnits; at++) {
        text += `let found${at} = User.byGroup(${n}).firstWhere(u => u.age > ${at} + 2 * 3 && u.name == "open")\n`
        text += `if (found${at}?.name == "a${typecheck}") { found${at}!.update({ age: ${at}, name: "x" }) }\n`
      }
      times[typecheck ? 1 : 0].push(await cpuMicros(() => ask(`${text}1`, typecheck).then(() => {})))
    }
  }
  return [median(times[0]), median(times[1])]
}

/** Milliseconds of a push of many functions to a checked database. */
async function push(engine: Engine): Promise<number> {
  const text = Array.from(
    { length: functions },
    (_, n) => `function f${n}(id: ID, years: Int): Number {
  let user = User.byId(id)!
  let others = User.byGroup(user.group).where(other => other.age > user.age + years).toArray()
  others.map(other => other.age).fold(0, (sum, age) => sum + age) + ${n === 0 ? '1' : `f${n - 1}(id, years)`}
}`,
  ).join('\n')
  const file = `collection User { name: String\n age: Int\n group: Int\n index byGroup { terms [.group] } }\n${text}`
  const request: QueryRequest = {
    ...base,
    options: { ...schemaOptions, typecheck: 'true' },
    body: schemaRequestText({
      method: 'POST',
      path: ['update'],
      parameters: { force: 'true' },
      files: [{ name: 'main.fsl', text: file }],
      text: '',
    }),
  }
  const before = performance.now()
  const { body, status } = await engine.query(request, undefined)
  if (status !== 200) throw new Error(body)
  return performance.now() - before
}
