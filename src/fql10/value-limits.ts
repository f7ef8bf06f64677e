// Measures the size and depth of values, and enforces the length limit of texts. A value can contain the same array or
// object several times, so a short query can construct a value that no machine can traverse: `let y = [x, x]`, then
// `let z = [y, y]`, and so on. Each new value is measured when it is created, and rejected if it exceeds the limits.
// The sizes of large parts are cached.

import { longCall, step } from '../base/effort.ts'
import { limits } from '../base/limits.ts'
import { type Message, msg, own } from '../base/message.ts'
import type { Call } from './call.ts'
import { isArray, isStruct, type Value } from './value.ts'

interface Extent {
  /**
   * The number of values, including nested values, plus the UTF-16 units of texts and keys, plus the bytes of byte
   * strings.
   */
  readonly units: number
  readonly depth: number
}

/** Minimum `units` of a value whose extent is cached. Smaller values are measured again. */
const cachedUnitsMin = 64

const extents = new WeakMap<object, Extent>()
const single: Extent = { units: 1, depth: 0 }

function extentOf(value: Value): Extent {
  if (typeof value === 'string' || value instanceof Uint8Array) return { units: 1 + value.length, depth: 0 }
  if (!isArray(value) && !isStruct(value)) return single
  const known = extents.get(value)
  if (known !== undefined) return known
  let units = 1
  let depth = 0
  for (const part of isArray(value) ? value : value.values()) {
    const extent = extentOf(part)
    units += extent.units
    if (extent.depth > depth) depth = extent.depth
  }
  if (isStruct(value)) for (const key of value.keys()) units += key.length
  step()
  const extent = { units, depth: depth + 1 }
  if (units >= cachedUnitsMin) extents.set(value, extent)
  return extent
}

/** Throws `value_too_large` at `call` if the value exceeds a limit. */
export function requireExtent<T extends Value>(value: T, call: Call): T {
  rejectBeyond(extentOf(value), call)
  return value
}

/**
 * The elements are not measured again, so the check takes constant time even for a long array. Throws as
 * {@link requireExtent} does.
 */
export function concatenate(left: readonly Value[], right: readonly Value[], call: Call): readonly Value[] {
  const [one, other] = [extentOf(left), extentOf(right)]
  const extent = { units: one.units + other.units - 1, depth: Math.max(one.depth, other.depth) }
  rejectBeyond(extent, call)
  longCall(left.length + right.length)
  const whole = [...left, ...right]
  if (extent.units >= cachedUnitsMin) extents.set(whole, extent)
  return whole
}

function rejectBeyond({ units, depth }: Extent, call: Call): void {
  if (units > limits.valueUnitsMax) {
    const reason = msg`${units} values and characters exceed limit ${limits.valueUnitsMax}`
    throw call.failure('value_too_large', msg`Value too large: ${reason}.`)
  }
  if (depth > limits.valueDepthMax) {
    const message = msg`Value too large: nesting exceeds limit ${limits.valueDepthMax}.`
    throw call.failure('value_too_large', message)
  }
}

/** `units`: the length in UTF-16 units. Returns undefined if the text is within the limit. */
export function tooLong(units: number): Message | undefined {
  const max = limits.v10TextUnitsMax
  return units > max ? msg`Value too large: string size ${units} exceeds limit ${own(max)}.` : undefined
}

/** Call before creating a text of `units` UTF-16 units. Throws `value_too_large` if the text would be too long. */
export function countText(units: number, call: Call): void {
  const message = tooLong(units)
  if (message !== undefined) throw call.failure('value_too_large', message)
  longCall(units)
}
