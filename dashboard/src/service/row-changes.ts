// Changes many documents in batches, with one transaction per batch. A change can be stopped and continued. Also
// changes single fields of single documents, with a check of the version that was read.

import type { Json, Query } from '../wire/json.ts'
import { documentRef, literal, type RefName } from '../wire/refs.ts'
import type { Row } from '../wire/rows.ts'
import { ChangedError, writeChecked } from './checked-writes.ts'
import { type Condition, fulfils } from './conditions.ts'
import { variable, write } from './data.ts'
import { ServiceError } from './faults.ts'
import type { RowPlan } from './row-plan.ts'
import { type RefPage, walkRefs } from './row-walk.ts'

export interface ChangeFailure {
  readonly ref: RefName
  readonly reason: string
}

export interface ChangeTarget {
  /** Number of documents when the dialog opened; undefined until they are counted. */
  readonly count: number | undefined
  /** Reads the documents from the start or from a cursor. */
  readonly pages: (signal: AbortSignal, from?: Json) => AsyncIterable<RefPage>
  /** Conditions that a document must fulfil when it is written; other documents are skipped. */
  readonly conditions: readonly Condition[]
}

export function selectedTarget(refs: readonly RefName[]): ChangeTarget {
  const pages = async function* () {
    yield { refs, after: undefined }
  }
  return { count: refs.length, pages, conditions: [] }
}

/** Documents that a plan finds. */
export function matchTarget(plan: RowPlan, count: number | undefined): ChangeTarget {
  return { count, pages: (signal, from) => walkRefs(plan, signal, from), conditions: plan.filter }
}

/** The progress of a change of many documents. A stopped change continues from this state. */
export interface ChangeState {
  /** Changed documents. */
  readonly done: number
  /**
   * Documents that need no change, because they are deleted, are already changed, or no longer fulfil the conditions.
   */
  readonly skipped: number
  readonly failures: readonly ChangeFailure[]
  /** Documents of the current page that have not been tried. */
  readonly rest: readonly RefName[]
  /** Cursor of the next page. */
  readonly after: Json | undefined
  /** True if more pages must be read. */
  readonly hasPages: boolean
}

export const initialChangeState: ChangeState = {
  done: 0,
  skipped: 0,
  failures: [],
  rest: [],
  after: undefined,
  hasPages: true,
}

export function isComplete({ rest, hasPages }: ChangeState): boolean {
  return rest.length === 0 && !hasPages
}

/** Expressions that change a document, and that test for documents that need no change. */
export interface Change {
  readonly change: (ref: Query) => Query
  /** The document already has the change; undefined for deletions. */
  readonly isDone?: (document: Query) => Query
}

export const deletion: Change = { change: ref => ({ delete: ref }) }

/** Null removes the field. */
export function settingOf(path: readonly string[], value: Json): Required<Change> {
  const nested = path.reduceRight<Query>((inner, name) => ({ object: { [name]: inner } }), literal(value))
  return {
    change: ref => ({ update: ref, params: { object: { data: nested } } }),
    isDone: document => ({
      let: [{ field: { select: ['data', ...path], from: document, default: null } }],
      in: isSame(variable('field'), value),
    }),
  }
}

/** Distinguishes `1` from `1.0`, which the language treats as equal, but stores differently. */
function isSame(field: Query, value: Json): Query {
  const equals: Query = { equals: [field, literal(value)] }
  if (typeof value === 'bigint') return { and: [equals, { is_integer: field }] }
  if (typeof value === 'number') return { and: [equals, { is_double: field }] }
  return equals
}

/**
 * Yields the state after each transaction. A rejected document does not stop the change of others. Documents that
 * already have the change are skipped, so a stopped change can also be repeated from the start. Throws errors that do
 * not concern a single document, such as a lost connection; the change can then continue from the last yielded state.
 */
export async function* changeEach(
  { conditions, pages }: ChangeTarget,
  change: Change,
  from: ChangeState,
  signal: AbortSignal,
): AsyncGenerator<ChangeState> {
  let state = from
  const tryRest = async function* () {
    const chunks = chunksOf(state.rest)
    for (let chunk = chunks.pop(); chunk !== undefined; chunk = chunks.pop()) {
      const outcome = await changeSome(chunk, change, conditions, signal)
      if (outcome.kind === 'split') {
        const half = chunk.length >> 1
        chunks.push(chunk.slice(half), chunk.slice(0, half))
        continue
      }
      const hasFailed = outcome.kind === 'failed'
      state = {
        ...state,
        done: state.done + (hasFailed ? 0 : outcome.done),
        skipped: state.skipped + (hasFailed ? 0 : chunk.length - outcome.done),
        failures: hasFailed ? [...state.failures, outcome.failure] : state.failures,
        rest: state.rest.slice(chunk.length),
      }
      yield state
    }
  }
  yield* tryRest()
  if (!state.hasPages) return
  for await (const { refs, after } of pages(signal, state.after)) {
    state = { ...state, rest: refs, after, hasPages: after !== undefined }
    yield* tryRest()
    if (refs.length === 0) yield state
  }
}

const batchSize = 100
const limitedDelayMs = 1000

/** Returns the chunks in reverse order. */
function chunksOf(refs: readonly RefName[]): (readonly RefName[])[] {
  const count = Math.ceil(refs.length / batchSize)
  return Array.from({ length: count }, (_, at) => refs.slice(at * batchSize, (at + 1) * batchSize)).reverse()
}

type Outcome =
  | { readonly kind: 'written'; readonly done: number }
  | { readonly kind: 'failed'; readonly failure: ChangeFailure }
  /** A document of the batch was rejected: the caller retries with smaller batches. */
  | { readonly kind: 'split' }

async function changeSome(
  refs: readonly RefName[],
  change: Change,
  conditions: readonly Condition[],
  signal: AbortSignal,
): Promise<Outcome> {
  const query = refs.map(({ collection, id }) => changeOne(documentRef(collection, id), change, conditions))
  for (;;) {
    try {
      const { value } = await write(query, signal)
      return { kind: 'written', done: (value as readonly Json[]).filter(each => each === true).length }
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause
      if (cause.status === 429) {
        await new Promise(resolve => setTimeout(resolve, limitedDelayMs))
        continue
      }
      const isOfDocuments = cause.status >= 400 && cause.status < 500 && cause.status !== 401
      const [ref] = refs
      if (!isOfDocuments || ref === undefined) throw cause
      if (refs.length > 1) return { kind: 'split' }
      return { kind: 'failed', failure: { ref, reason: reasonOf(cause) } }
    }
  }
}

/** Changes a document if it exists and needs the change, and returns whether it did. */
function changeOne(ref: Query, { change, isDone }: Change, conditions: readonly Condition[]): Query {
  const document = variable('document')
  const changed: Query = { do: [change(ref), true] }
  const tests = [
    ...(conditions.length > 0 ? [fulfils(conditions, document)] : []),
    ...(isDone === undefined ? [] : [{ not: isDone(document) }]),
  ]
  const checked: Query =
    tests.length === 0
      ? changed
      : { let: [{ document: { get: ref } }], in: { if: { and: tests }, then: changed, else: false } }
  return { if: { exists: ref }, then: checked, else: false }
}

function reasonOf(error: ServiceError): string {
  const failures = error.faults
    .flatMap(fault => fault.failures)
    .map(({ field, description }) => `${field}: ${description}`)
  return [error.message, ...failures].join(' ')
}

/** Throws {@link ChangedError} if another client has changed the document since it was read as `row`. */
export async function saveField(row: Row, name: string, value: Json, signal: AbortSignal): Promise<void> {
  if (row.ref === undefined) return
  const ref = documentRef(row.ref.collection, row.ref.id)
  const update: Query = { select: 'ts', from: settingOf([name], value).change(ref) }
  const { kind } = await writeChecked(ref, row.ts ?? null, update, signal)
  if (kind === 'changed') throw new ChangedError()
  if (kind === 'gone') throw new Error('The document was deleted in the meantime. Reload the page.')
}
