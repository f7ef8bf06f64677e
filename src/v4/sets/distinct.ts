// Distinct: of every key the element that comes first in the set. Long runs of equal keys are jumped over.

import { besideKey, compareKeys, type Element } from '../../model/sets/order.ts'
import { type ElementStream, firstOf } from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'
import { groupedStream } from './grouped.ts'

/** Equal elements passed one by one, reading backwards, before the first of them is looked up. */
const stepsMax = 8

export function distinctStream(source: ElementStream): ElementStream {
  return groupedStream(source.order, function* (scan) {
    const reader = new ElementReader(source, source.order, scan)
    try {
      while (reader.current) yield [scan.reverse ? takeBackwards(reader, source) : takeForwards(reader)]
    } finally {
      reader.close()
    }
  })
}

function takeBackwards(reader: ElementReader, source: ElementStream): Element {
  let first = reader.current as Element
  for (let steps = 0; steps < stepsMax; steps++) {
    reader.advance()
    if (!reader.current || compareKeys(reader.current, first, source.order) !== 0) return first
    first = reader.current
  }
  const run = { from: besideKey(first, 'low'), to: besideKey(first, 'high') }
  reader.seek(run.from)
  return firstOf(source.scan(run)) ?? first
}

function takeForwards(reader: ElementReader): Element {
  const element = reader.current as Element
  reader.seek(besideKey(element, 'high'))
  return element
}
