// Tasks over texts of responses and editors. For long texts, a worker runs the task.

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

export type TextTask =
  /** Rows in a response body. */
  | { readonly kind: 'rows'; readonly text: string; readonly valueNames: readonly string[] }
  /** The document in a response body, with its data as text. */
  | { readonly kind: 'document'; readonly text: string; readonly notation: Notation }
  /** The value in a response body. */
  | {
      readonly kind: 'response'
      readonly text: string
      readonly version: Version
      readonly notation: Notation
    }
  /** Converts the text of a value to the JSON of an expression. */
  | { readonly kind: 'literal'; readonly text: string; readonly notation: Notation }
  /** Converts the text to the other notation. */
  | {
      readonly kind: 'convert'
      readonly what: 'value' | 'query'
      readonly text: string
      readonly from: Notation
      readonly to: Notation
    }
  | { readonly kind: 'compare'; readonly left: string; readonly right: string }
  /** Compares three versions in a response body: the previous, the shown and the newest version. */
  | { readonly kind: 'versions'; readonly text: string }

/** A document as the editor shows it. */
export interface DocumentText {
  /** Formatted text. */
  readonly data: string
  readonly notation: Notation
  readonly ts: bigint
  /** ISO 8601; empty if the document does not expire. */
  readonly ttl: string
}

/** Differences between a version of a document and two other versions. */
interface VersionDifferences {
  /** False for a deletion. */
  readonly hasData: boolean
  readonly fromBefore: Comparison
  readonly toNewest: Comparison
}

interface Results {
  readonly rows: Rows
  readonly document: DocumentText
  readonly response: string
  readonly literal: string
  readonly convert: string
  readonly compare: Comparison
  readonly versions: VersionDifferences
}

export type TextTaskResult<T extends TextTask> = Results[T['kind']]

export function perform<T extends TextTask>(task: T): TextTaskResult<T> {
  // Each branch returns the result type of its kind. The compiler cannot check this.
  return performAny(task) as TextTaskResult<T>
}

function performAny(task: TextTask): Results[keyof Results] {
  switch (task.kind) {
    case 'rows':
      return rowsOf(task.text, task.valueNames)
    case 'document':
      return documentText(at(parseJson(task.text), 'resource') ?? null, task.notation)
    case 'response':
      return responseText(task.text, task.version, task.notation)
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

function responseText(text: string, version: Version, notation: Notation): string {
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
