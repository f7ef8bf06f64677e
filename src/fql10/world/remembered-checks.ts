// Checks queries, and remembers the results for each database until its schema changes. Applications send few different
// queries with many different values. The result of a check is remembered by the text of the query and the kinds of the
// values. If the check has read values, for example to print a literal type, the result is remembered for these values.

import { stepsSoFar } from '../../base/effort.ts'
import { GenerationCache } from '../../base/generation-cache.ts'
import { Message } from '../../base/message.ts'
import { Remembered } from '../../model/remembered.ts'
import type { Session } from '../../model/session.ts'
import type { DatabaseId, Micros } from '../../values/value.ts'
import type { Diagnostic } from '../failure/query-failure.ts'
import { queryKey } from '../request.ts'
import type { Program } from '../syntax/nodes.ts'
import { Source, type Span } from '../syntax/source.ts'
import type { ComposedQuery } from '../syntax/template.ts'
import { type CheckedQuery, checkQuery } from '../typing/check-query.ts'
import { type ArgumentValue, type LiteralValue, mainTypeOf, type Type } from '../typing/terms.ts'
import type { Struct, Value } from '../value.ts'
import { typesOf, ValueTypes } from './static-types.ts'

/** Maximum number of bytes of all remembered checks of a database. */
const bytesMax = 1_048_576
/** Checks of queries and values with this number of UTF-16 units together or more are not remembered. */
const longUnits = 32_768
/** Bytes of an entry of the cache, of the number of a value, and of a message without its text. */
const bytesPerEntry = 512
const bytesPerValue = 16
const bytesPerMessage = 256

type RememberedCheck =
  | { readonly kind: 'result'; readonly checked: CheckedQuery }
  /** The result depends on the values with the numbers `read`, and is stored under a key that contains them. */
  | { readonly kind: 'by values'; readonly read: readonly number[] }

interface CheckRequest {
  readonly query: ComposedQuery
  readonly program: Program
  readonly args: Struct
  readonly placeholders: readonly Value[]
}

export interface CheckOutcome {
  readonly checked: CheckedQuery
  /**
   * The result for {@link rememberCheck} in another process. Undefined if the check was short, if the result is too
   * long, or if it comes from {@link RememberedChecks}.
   */
  readonly report?: string | undefined
}

/** The latest check of each parsed query, if its result depends on no values. Includes the report for repetitions. */
const latest = new WeakMap<Program, LatestCheck>()

interface LatestCheck {
  readonly database: DatabaseId
  readonly schemaVersion: Micros
  readonly kinds: string
  readonly outcome: CheckOutcome
}

/** Returns the remembered result. If there is none, checks the query and remembers the result. */
export function checkOnce(request: CheckRequest, session: Session): CheckOutcome {
  const { args, placeholders, program } = request
  let kinds = ''
  for (const [name, value] of args) kinds += `${name.length}:${name}${kindOf(value)}`
  for (const value of placeholders) kinds += kindOf(value)
  const { database, transaction } = session
  const checks = Remembered.of<RememberedCheck>('checked queries', bytesMax, 1, session)
  const schemaVersion = transaction.catalogue.schemaVersion(database)
  const last = latest.get(program)
  if (last?.kinds === kinds && last.schemaVersion === schemaVersion && last.database === database)
    return last.outcome
  const outcome = findOrCheck(request, `${kinds} ${queryKey(request.query)}`, checks, session)
  if (!outcome.readsValues) latest.set(program, { database, schemaVersion, kinds, outcome })
  return outcome
}

function findOrCheck(
  { args, placeholders, program }: CheckRequest,
  key: string,
  remembered: Remembered<RememberedCheck>,
  session: Session,
): CheckOutcome & CheckResult {
  const types = new ValueTypes()
  const argTypes = new Map(Array.from(args, ([name, value]) => [name, types.typeOf(value)]))
  const placeholderTypes = placeholders.map(each => types.typeOf(each))
  const { given } = types
  const checks = new RememberedChecks(session, remembered, key, given)
  const known = checks.find() ?? checks.findLearned(program.source)
  if (known !== undefined) return known
  const before = stepsSoFar()
  const checked = checkQuery(program, typesOf(session).environment, argTypes, placeholderTypes)
  const read = given.flatMap(({ isRead }, index) => (isRead ? [index] : []))
  checks.add(read, checked)
  const readsValues = read.length > 0
  if (stepsSoFar() - before < longSteps) return { checked, readsValues }
  return { checked, readsValues, report: checks.report(read, checked) }
}

/** Returns the same text for values whose types differ only in literals. */
function kindOf(value: Value): string {
  if (typeof value === 'string') return 's;'
  return kindOfType(new ValueTypes().typeOf(value))
}

function kindOfType(type: Type): string {
  switch (type.kind) {
    case 'literal':
      return typeof type.value === 'string' ? 's;' : `${mainTypeOf(type.value)};`
    case 'named':
      return `${type.name}${type.args.length > 0 ? '<>' : ''};`
    case 'tuple':
      return `[${type.elements.map(kindOfType).join('')}]`
    case 'record': {
      if (type.wildcard !== undefined) return '{*}'
      const fields = Array.from(type.fields, ([name, field]) => `${name.length}:${name}${kindOfType(field)}`)
      return `{${fields.join('')}}`
    }
    default:
      return `${type.kind};`
  }
}

interface CheckResult {
  readonly checked: CheckedQuery
  readonly readsValues: boolean
}

class RememberedChecks {
  readonly #session: Session
  readonly #byKinds: string
  readonly #given: readonly ArgumentValue[]
  readonly #checks: Remembered<RememberedCheck>

  constructor(
    session: Session,
    checks: Remembered<RememberedCheck>,
    byKinds: string,
    given: readonly ArgumentValue[],
  ) {
    this.#session = session
    this.#checks = checks
    this.#byKinds = byKinds
    this.#given = given
  }

  find(): CheckResult | undefined {
    const known = this.#checks.get(this.#byKinds)
    if (known === undefined) return undefined
    if (known.kind === 'result') return { checked: known.checked, readsValues: false }
    const found = this.#checks.get(this.#byValues(known.read))
    return found?.kind === 'result' ? { checked: found.checked, readsValues: true } : undefined
  }

  /** `read`: the numbers of the values on which the result depends. */
  add(read: readonly number[], checked: CheckedQuery): void {
    const key = this.#byKinds
    if (read.length === 0) {
      this.#set(key, { kind: 'result', checked }, bytesOf(checked))
      return
    }
    // The numbers of the values are part of the key, so a result for other numbers is never found by mistake.
    const known = this.#checks.get(key)
    const all =
      known?.kind === 'by values'
        ? [...new Set([...known.read, ...read])].sort((left, right) => left - right)
        : read
    this.#set(key, { kind: 'by values', read: all }, bytesPerValue * all.length)
    this.#set(this.#byValues(all), { kind: 'result', checked }, bytesOf(checked))
  }

  #set(key: string, remembered: RememberedCheck, bytes: number): void {
    if (key.length >= longUnits) return
    this.#checks.set(key, remembered, bytesPerEntry + 2 * key.length + bytes, this.#session)
  }

  #byValues(read: readonly number[]): string {
    const values = read.map(index => textOf(this.#given[index]?.value ?? ''))
    return `${read.join()} ${values.join('')}${this.#byKinds}`
  }

  /** Identifies the schema that the checks use, in all processes. */
  get #schema(): string {
    const { database, transaction } = this.#session
    return `${database} ${transaction.catalogue.schemaVersion(database)}`
  }

  /** Finds a result that another process has reported. */
  findLearned(source: Source): CheckResult | undefined {
    if (!hasLearned) return undefined
    const found = learned.get(`${this.#schema} ${this.#byKinds}`)
    if (found === undefined) return undefined
    const { checked, read } = withSource(found, source)
    // The values of this request may differ from the values of the report.
    if (this.#byValues(read) !== found.byValues) return undefined
    this.add(read, checked)
    return { checked, readsValues: read.length > 0 }
  }

  /** Returns undefined if the report is longer than a receiver accepts. */
  report(read: readonly number[], checked: CheckedQuery): string | undefined {
    if (this.#byKinds.length >= longUnits) return undefined
    const report: Report = {
      key: `${this.#schema} ${this.#byKinds}`,
      byValues: this.#byValues(read),
      read,
      checked,
    }
    // Each position is in the text of the query, so the receiver knows its source.
    const text = JSON.stringify(report, (_, value) => (value instanceof Source ? undefined : value))
    return text.length < longUnits ? text : undefined
  }
}

function textOf(value: LiteralValue): string {
  const text = Object.is(value, -0) ? '-0' : String(value)
  return `${text.length}:${text}`
}

function bytesOf({ errors, type = '', warnings }: CheckedQuery): number {
  let bytes = 2 * type.length
  for (const { message, remarks = [] } of [...errors, ...warnings]) {
    for (const each of [message, ...remarks.map(remark => remark.message)])
      bytes += bytesPerMessage + 2 * String(each).length
  }
  return bytes
}

/**
 * Processes of the slow lane report checks with this number of steps or more. Without the report, this process would
 * begin the same check again when the query is repeated.
 */
const longSteps = 32_768
/** Maximum number of bytes of the reports of other processes. */
const learnedBytesMax = 4_194_304

interface Report {
  readonly key: string
  readonly byValues: string
  readonly read: readonly number[]
  readonly checked: CheckedQuery
}

const learned = new GenerationCache<string, Report & { readonly bytes: number }>(
  learnedBytesMax,
  ({ bytes }) => bytes,
)
/** If false, {@link RememberedChecks.findLearned} need not compute a key. */
let hasLearned = false

/** Remembers the result of a check in another process. */
export function rememberCheck(report: string): void {
  const read: Report = JSON.parse(report)
  // A parsed report is estimated to take three bytes for each character of its text.
  learned.set(read.key, { ...read, bytes: 3 * report.length })
  hasLearned = true
}

function withSource(report: Report, source: Source): Report {
  const placed = (span: Span | undefined) => span && { ...span, source }
  const diagnostics = (list: readonly Diagnostic[]) =>
    list.map(each => ({
      ...each,
      message: messageFrom(each.message),
      span: placed(each.span),
      ...(each.remarks && { remarks: each.remarks.map(one => ({ ...one, span: placed(one.span) })) }),
    }))
  const { errors, type, warnings } = report.checked
  return { ...report, checked: { type, errors: diagnostics(errors), warnings: diagnostics(warnings) } }
}

function messageFrom(message: Diagnostic['message']): Diagnostic['message'] {
  return typeof message === 'string' ? message : new Message(message.pieces, message.quoted)
}
