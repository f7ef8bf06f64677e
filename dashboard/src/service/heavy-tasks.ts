// The tasks that a worker takes over for long texts.

import {
  convertQuery,
  convertValue,
  type Notation,
  parseLiteral,
  printForComparison,
  printValue,
  type Version,
} from '../language.ts'
import { type Comparison, compare } from '../wire/diff.ts'
import { at, isMap, type Json, parseJson, writeJson } from '../wire/json.ts'
import { type Rows, rowsOf } from '../wire/rows.ts'
import { printTagged } from '../wire/tagged.ts'

export type HeavyTask =
  /** The rows in the body of an answer. */
  | { readonly kind: 'rows'; readonly text: string; readonly valueNames: readonly string[] }
  /** A document in the body of an answer, with its data as text. */
  | { readonly kind: 'document'; readonly text: string; readonly notation: Notation }
  /** The value in the body of an answer of a version of the language. */
  | { readonly kind: 'answer'; readonly text: string; readonly version: Version; readonly notation: Notation }
  /** The JSON of an expression that evaluates to the value that a text stands for. */
  | { readonly kind: 'literal'; readonly text: string; readonly notation: Notation }
  /** A value or a query in one notation, in the other. */
  | {
      readonly kind: 'convert'
      readonly what: 'value' | 'query'
      readonly text: string
      readonly from: Notation
      readonly to: Notation
    }
  /** What differs between two texts. */
  | { readonly kind: 'compare'; readonly left: string; readonly right: string }
  /** What differs between the versions in the body of an answer: the one before, one, and the newest. */
  | { readonly kind: 'versions'; readonly text: string }

/** A document as its page shows it. */
export interface DocumentText {
  /** The data, laid out. */
  readonly data: string
  readonly notation: Notation
  readonly ts: bigint
  /** ISO 8601; empty when it does not expire. */
  readonly ttl: string
}

/** How a version of a document differs from others. */
interface VersionDifferences {
  /** False for a version that is a deletion. */
  readonly hasData: boolean
  readonly fromBefore: Comparison
  readonly toNewest: Comparison
}

interface Results {
  readonly rows: Rows
  readonly document: DocumentText
  readonly answer: string
  readonly literal: string
  readonly convert: string
  readonly compare: Comparison
  readonly versions: VersionDifferences
}

export type HeavyResult<T extends HeavyTask> = Results[T['kind']]

/** Performs a task. */
export function perform<T extends HeavyTask>(task: T): HeavyResult<T> {
  // The branches give what the task's kind says; the compiler cannot follow that.
  return performAny(task) as HeavyResult<T>
}

function performAny(task: HeavyTask): Results[keyof Results] {
  switch (task.kind) {
    case 'rows':
      return rowsOf(task.text, task.valueNames)
    case 'document':
      return documentText(at(parseJson(task.text), 'resource') ?? null, task.notation)
    case 'answer':
      return answerText(task.text, task.version, task.notation)
    case 'literal':
      return writeJson(parseLiteral(task.text, task.notation))
    case 'convert':
      return task.what === 'query'
        ? convertQuery(task.text, task.to)
        : convertValue(task.text, task.from, task.to)
    case 'compare':
      return compare(task.left, task.right)
    case 'versions':
      return versionDifferences(at(parseJson(task.text), 'resource') ?? null)
  }
}

function answerText(text: string, version: Version, notation: Notation): string {
  const body = parseJson(text)
  if (version === '4') return printValue(at(body, 'resource') ?? null, notation)
  const data = at(body, 'data') ?? null
  return notation === 'json' ? writeJson(data, '  ') : printTagged(data)
}

function versionDifferences(versions: Json): VersionDifferences {
  const data = at(versions, 1)
  const [before, own, newest] = [at(versions, 0), data, at(versions, 2)].map(each =>
    isMap(each) ? printForComparison(each) : '',
  ) as [string, string, string]
  return { hasData: isMap(data), fromBefore: compare(before, own), toNewest: compare(own, newest) }
}

/** A document's data and times as texts. */
function documentText(document: Json, notation: Notation): DocumentText {
  const ts = at(document, 'ts')
  const ttl = at(document, 'ttl', '@ts')
  return {
    data: printValue(at(document, 'data') ?? new Map(), notation),
    notation,
    ts: typeof ts === 'bigint' ? ts : 0n,
    ttl: typeof ttl === 'string' ? ttl : '',
  }
}
