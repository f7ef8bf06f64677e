// Joins of sets. A link returns a target set for each element of the source: a lambda returns any set, and an index the
// set of the entries whose terms are the element's values. The join is the union of all target sets, without duplicate
// keys.

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
import { applySetLambda, type CallReading, setLambdaError, withoutHiddenErrors } from './call-reading.ts'
import { distinctStream, unionStream } from './streams.ts'

/** Returns undefined if the caller may not read the set. */
type OpenTarget = (set: SetLike) => ElementStream | undefined

type SourceElement = Pick<Element, 'values' | 'document'>

/** Returns undefined if an element has no target set. */
export type TargetOf = (element: SourceElement) => SetLike | undefined

/** Reads the whole source immediately, and the target sets on demand. */
export function joinStream(
  source: ElementStream,
  targetOf: TargetOf,
  reading: CallReading,
  open: OpenTarget,
): ElementStream {
  const targets: ElementStream[] = []
  for (const element of joinedElements(source)) {
    const target = targetOf(element)
    const stream = target && open(target)
    if (stream) targets.push(stream)
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

/**
 * Returns the function that calls the link for an element of the source. `isFiltered`: the source has elements that the
 * caller may not read; see {@link withoutHiddenErrors}.
 */
export function targetsOf(link: Lambda | Ref, isFiltered: boolean, reading: CallReading): TargetOf {
  if (!(link instanceof Lambda)) {
    return element => new SetValue({ type: 'match', index: link, terms: keyOf({ ...element, sources: [] }) })
  }
  const targetOf = (element: SourceElement): SetLike => {
    const target: Value = applySetLambda(link, elementValue(element), reading)
    if (isSet(target)) return target
    throw setLambdaError(link, msg`Set expected, ${typeName(target)} provided.`, reading)
  }
  return isFiltered ? withoutHiddenErrors(targetOf, undefined, reading) : targetOf
}
