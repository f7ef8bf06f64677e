// Renders values in the `decorated` format of the shell, as a developer would write them.

import { step } from '../../base/effort.ts'
import { javaDoubleText } from '../../values/double-text.ts'
import { tokenOf } from '../events/token.ts'
import { inBrackets, keyText, quoted } from '../text/quoted.ts'
import { debugText } from '../text-of-value.ts'
import { isArray, isStruct, type Struct, type Value } from '../value.ts'
import type { Rendering } from './rendering.ts'

/** The text of a value. All lines but the first are indented by `level`. */
export function decorate(value: Value, rendering: Rendering, level = 0): string {
  step()
  if (typeof value === 'string') return value.includes('\n') ? heredoc(value, level) : quoted(value)
  if (typeof value === 'number') return doubleText(value)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) {
    return debugText(value, rendering.call)
  }
  if (isArray(value)) {
    const lines = value.map(element => decorate(element, rendering, level + 1))
    return inBrackets('[', lines, ']', level)
  }
  if (isStruct(value)) return decorateStruct(value, rendering, level)
  switch (value.kind) {
    case 'id':
      return `"${value.value}"`
    case 'transaction time':
      return `Time("${rendering.transactionTime()}")`
    case 'event source':
      return quoted(tokenOf(value, rendering.call))
    case 'lambda':
      return '"[function <lambda>]"'
    case 'function':
    case 'user function':
      return `"[function ${value.name}]"`
    case 'document':
    case 'set':
      return rendering.decorate(value, level)
  }
  return debugText(value, rendering.call)
}

/** Renders a plain object with one field per line. */
function decorateStruct(struct: Struct, rendering: Rendering, level: number): string {
  const lines = [...struct].map(([key, value]) => `${keyText(key)}: ${decorate(value, rendering, level + 1)}`)
  return inBrackets('{', lines, '}', level)
}

function doubleText(value: number): string {
  if (Number.isFinite(value)) return javaDoubleText(value)
  return Number.isNaN(value) ? 'Math.NaN' : `${value < 0 ? '-' : ''}Math.Infinity`
}

/** Renders a text of several lines, indented by one more level. */
function heredoc(text: string, level: number): string {
  const names = ['END', ...Array.from({ length: 10 }, (_, digit) => `END${digit}`)]
  const name = names.find((each, index) => (index === 0 ? !text.includes('END') : !text.includes(each)))
  if (name === undefined) return quoted(text)
  const indent = '  '.repeat(level)
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
  return `<<-${name}\n${lines.map(line => `${indent}  ${line}`).join('\n')}\n${indent}${name}`
}
