// What the operations that compare whole keys have in common. They work on groups, all elements with one key: a
// page may begin within a group, but what a group holds is decided by looking at all of it.

import { compareToPlace, type Element, type SetBound, type SetOrder } from '../../model/sets/order.ts'
import type { ElementScan, ElementStream } from '../../model/sets/stream.ts'

/**
 * Elements that come in groups. `groups` reads those between places that never lie within one, each in the set's order, from
 * streams of its own.
 */
export function groupedStream(
  order: SetOrder,
  groups: (scan: ElementScan) => Iterable<readonly Element[]>,
): ElementStream {
  return {
    order,
    *scan(scan) {
      const from = scan.from && outsideGroup(scan.from, 'low')
      const to = scan.to && outsideGroup(scan.to, 'high')
      for (const group of groups({ from, to, reverse: scan.reverse === true })) {
        for (let index = 0; index < group.length; index++) {
          const element = group[scan.reverse ? group.length - 1 - index : index] as Element
          if (from !== scan.from && compareToPlace(element, scan.from as SetBound, order) < 0) continue
          if (to !== scan.to && compareToPlace(element, scan.to as SetBound, order) > 0) continue
          yield element
        }
      }
    },
  }
}

/** The place itself, or, where it names a document beside its values, the edge of that group. */
function outsideGroup(place: SetBound, side: SetBound['side']): SetBound {
  return place.document === undefined || place.values.length === 0 ? place : { values: place.values, side }
}

/** The elements of one member with the sources of all of them. */
export function withSources(
  group: readonly Element[],
  members: readonly (readonly Element[])[],
): readonly Element[] {
  if (members.length === 1) return group
  const sources = [...new Set(members.flatMap(member => (member[0] as Element).sources))]
  return group.map(element => ({ ...element, sources }))
}
