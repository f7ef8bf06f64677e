// Paths of fields, in the syntax of indexes, constraints and migrations: `a`, `.a.b`, `a["b c"]`, `["x"][0]`.

import type { Path } from '../../storage/store/index-definition.ts'
import { isArray, isObject, type Value } from '../../values/value.ts'
import type { FieldPath } from '../failure.ts'

export type { Path }

const firstName = /\.?([A-Za-z_][\w']*)/y
const laterName = /\.([A-Za-z_][\w']*)/y
const bracket = /\.?\[\s*(?:(\d+)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')\s*\]/y

/** Returns undefined if the text is not a path. */
export function parsePath(text: string): Path | undefined {
  const steps: (string | bigint)[] = []
  let at = 0
  while (at < text.length) {
    const name = at === 0 ? firstName : laterName
    name.lastIndex = at
    const named = name.exec(text)
    if (named !== null) {
      steps.push(named[1] as string)
      at = name.lastIndex
      continue
    }
    bracket.lastIndex = at
    const found = bracket.exec(text)
    if (found === null) return undefined
    const [, position, double, single] = found
    if (position !== undefined) steps.push(BigInt(position))
    else steps.push((double ?? single ?? '').replaceAll(/\\(.)/g, '$1'))
    at = bracket.lastIndex
  }
  return steps.length === 0 ? undefined : steps
}

/** Formats a path for messages: `.a["b c"][0]`. */
export function pathSpelling(path: Path): string {
  return path
    .map(step => {
      if (typeof step === 'bigint') return `[${step}]`
      return /^[A-Za-z_][\w']*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
    })
    .join('')
}

export function isSamePath(left: Path, right: Path): boolean {
  return left.length === right.length && left.every((step, index) => step === right[index])
}

/** Returns undefined if the path leads to no value. */
export function valueAt(data: Value | undefined, path: FieldPath): Value | undefined {
  let value = data
  for (const step of path) {
    if (typeof step === 'string') value = isObject(value) ? value.get(step) : undefined
    else value = isArray(value) ? value[step] : undefined
  }
  return value
}
