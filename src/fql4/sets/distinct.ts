// Distinct: for every key the first element of the set. Long runs of equal keys are skipped with a seek.

import { besideKey, compareKeys, type Element } from '../../model/sets/order.ts'
import { type ElementStream, firstOf } from '../../model/sets/stream.ts'
import { ElementReader } from './element-reader.ts'
import { groupedStream } from './grouped.ts'

/** Number of equal elements read one by one in reverse, before a seek finds the first of them. */
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
