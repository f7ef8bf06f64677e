// Runs queries of version 10 without a store, in an empty world.

import { micros } from '../../../src/base/micros.ts'
import { Call } from '../../../src/fql10/call.ts'
import { Interpreter } from '../../../src/fql10/evaluate/interpreter.ts'
import { type Diagnostic, QueryFailure } from '../../../src/fql10/failure/query-failure.ts'
import { summaryOf } from '../../../src/fql10/failure/summary.ts'
import { bindTemplate, decodeSimple, decodeTagged, type TagNames } from '../../../src/fql10/formats/decode.ts'
import { decorate, encodeJson, type Rendering } from '../../../src/fql10/formats/rendering.ts'
import { globals } from '../../../src/fql10/library/tables.ts'
import { programOf } from '../../../src/fql10/request.ts'
import { Source } from '../../../src/fql10/syntax/source.ts'
import { composeQuery } from '../../../src/fql10/syntax/template.ts'
import { Module, type Value } from '../../../src/fql10/value.ts'
import { emptyWorld } from '../../../src/fql10/world/stored-code.ts'
import { parseJson } from '../../../src/values/json.ts'

const names: TagNames = {
  module: name => {
    const value = globals.get(name)
    return value instanceof Module ? value : undefined
  },
  document: () => null,
}

/** The result of a query. */
export interface Outcome {
  /** The result as JSON. */
  readonly data?: unknown
  readonly error?: { readonly code: string; readonly message: string; readonly abort?: unknown }
  readonly summary: string
}

interface RunOptions {
  readonly arguments?: unknown
  readonly format?: 'simple' | 'tagged' | 'decorated'
}

/** Evaluates a query or a template, and renders its result. */
export function run(query: unknown, { arguments: given = {}, format = 'tagged' }: RunOptions = {}): Outcome {
  let id = 0n
  const seconds = 1_700_000_000
  const logLines: Diagnostic[] = []
  const transaction = { snapshotTime: micros(seconds * 1_000_000) }
  const session = { transaction, newId: () => ++id, compute: () => {} }
  const interpreter = new Interpreter(session, emptyWorld, { logLines })
  const rendering: Rendering = {
    call: new Call(interpreter, undefined, new Source('*query*', ''), undefined),
    transactionTime: () => '2023-11-14T22:13:20Z',
    encode: () => 'null',
    decorate: () => 'null',
  }
  const render = (value: Value): unknown => {
    if (format === 'decorated') return decorate(value, rendering)
    return JSON.parse(encodeJson(value, rendering, format === 'tagged'))
  }
  try {
    const composed = composeQuery(parseJson(JSON.stringify(query)))
    const program = programOf(composed)
    const placeholders = bindTemplate(composed, program.source, names)
    const args = new Map<string, Value>()
    for (const [name, argument] of Object.entries(given as object)) {
      const json = parseJson(JSON.stringify(argument))
      args.set(name, format === 'simple' ? decodeSimple(json) : decodeTagged(json, names))
    }
    const value = interpreter.run(program, args, placeholders)
    return { data: render(value), summary: summaryOf(logLines) }
  } catch (failure) {
    if (!(failure instanceof QueryFailure)) throw failure
    const { code, message, diagnostics, abort } = failure
    const error = abort === undefined ? { code, message } : { code, message, abort: render(abort.value) }
    return { error, summary: summaryOf([...diagnostics, ...logLines]) }
  }
}
