// Converts cursors and bounds in queries to places in a set. A cursor is a list of values, optionally followed by
// the document of an element. The place of a cursor is before all elements that begin with the values of the cursor,
// except for null, which is the end of the set.

import { step } from '../../base/effort.ts'
import { type ElementPlace, precedesRefs, type SetOrder } from '../../model/sets/stream.ts'
import { isArray, isObject, Ref, UnresolvedRef, type Value } from '../../values/value.ts'
import { Page } from '../values/transient.ts'

/** Returns a list unchanged. Wraps any other value in a list. */
export function listOf(value: Value): readonly Value[] {
  return isArray(value) ? value : [value]
}

export function unresolvedIn(value: Value): UnresolvedRef | undefined {
  step()
  if (value instanceof UnresolvedRef) return value
  if (value instanceof Page) return unresolvedIn(value.data)
  if (!isArray(value) && !isObject(value)) return undefined
  for (const part of value.values()) {
    const found = unresolvedIn(part as Value)
    if (found) return found
  }
  return undefined
}

/**
 * The elements of a combined set can have different numbers of values. If the cursor has one item more than the values
 * of some elements, and the last item is a reference, this item is the document of such an element. Cursors of pages
 * have this form.
 */
export function cursorPlace(cursor: readonly Value[], order: SetOrder): ElementPlace {
  return boundPlace(cursor, order, 'low', order.arities)
}

/**
 * Both bounds are inclusive. In a combined set, a bound with a document has at least as many values as the elements of
 * the first member.
 */
export function rangePlaces(
  from: readonly Value[],
  to: readonly Value[],
  order: SetOrder,
): { readonly from: ElementPlace; readonly to: ElementPlace } {
  const [first = 0] = order.arities
  const arities = order.arities.filter(arity => arity >= first)
  return { from: boundPlace(from, order, 'low', arities), to: boundPlace(to, order, 'high', arities) }
}

/** `arities`: the numbers of values after which the last item of a bound is a document. */
function boundPlace(
  bound: readonly Value[],
  order: SetOrder,
  side: ElementPlace['side'],
  arities: readonly number[],
): ElementPlace {
  if (bound.length > order.arity) {
    const values = bound.slice(0, order.arity)
    const document = bound[order.arity] as Value
    if (document instanceof Ref) return { values, document, side }
    // Another value in place of the document is before or after all documents, by the order of types.
    return { values, side: precedesRefs(document) === order.reversed ? 'high' : 'low' }
  }
  // A single null stands for the end of the set, even if each element has several values.
  if (bound.length === 1 && bound[0] === null) return { values: bound, side: order.reversed ? 'low' : 'high' }
  const last = bound.at(-1)
  if (!(last instanceof Ref && arities.includes(bound.length - 1))) return { values: bound, side }
  // The key of an element without values is its document.
  if (bound.length === 1) return { values: bound, side, isWhole: true }
  return { values: bound.slice(0, -1), document: last, side }
}
