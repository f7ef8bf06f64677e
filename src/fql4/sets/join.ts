// Joins of sets. A link, which is a lambda or an index, returns a target set for each element of the source. The join
// is the union of all target sets, without duplicate keys.

import { msg } from '../../base/message.ts'
import {
  areAllCompatible,
  type Element,
  type ElementStream,
  elementValue,
  keyOf,
} from '../../model/sets/stream.ts'
import { Lambda, type Ref, type Value } from '../../values/value.ts'
import { checkWidth } from '../evaluate.ts'
import { typeName } from '../values/tagged.ts'
import { isSet, type SetLike, SetValue } from '../values/transient.ts'
import { applySetLambda, type CallReading, setLambdaError } from './call-reading.ts'
import { distinctStream, unionStream } from './streams.ts'

/** Returns undefined if the caller may not read the set. */
type OpenTarget = (set: SetLike) => ElementStream | undefined

/** Reads the whole source immediately, and the target sets on demand. */
export function joinStream(
  source: ElementStream,
  link: Lambda | Ref,
  reading: CallReading,
  open: OpenTarget,
): ElementStream {
  const targets: ElementStream[] = []
  for (const element of joinedElements(source)) {
    const target = open(targetOf(element, link, reading))
    if (target) targets.push(target)
  }
  if (!areAllCompatible(targets.map(target => target.order))) {
    throw reading.call.invalid(msg`Sets are not compatible.`)
  }
  return distinctStream(unionStream(targets))
}

/** Removes duplicate keys. Throws `bad request` for more than `limits.queryWidthMax` elements. */
export function joinedElements(source: ElementStream): readonly Element[] {
  const elements: Element[] = []
  for (const element of distinctStream(source).scan({})) {
    elements.push(element)
    checkWidth(elements.length)
  }
  return elements
}

/** A lambda returns the target set. The target set of an index has the entries whose terms are the element's values. */
export function targetOf(
  element: Pick<Element, 'values' | 'document'>,
  link: Lambda | Ref,
  reading: CallReading,
): SetLike {
  if (!(link instanceof Lambda)) {
    return new SetValue({ type: 'match', index: link, terms: keyOf({ ...element, sources: [] }) })
  }
  const target: Value = applySetLambda(link, elementValue(element), reading)
  if (isSet(target)) return target
  throw setLambdaError(link, msg`Set expected, ${typeName(target)} provided.`, reading)
}
