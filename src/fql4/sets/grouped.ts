// Common code of the operations that compare whole keys. These operations process groups; a group has all elements with
// one key. A page may begin within a group, but the content of a group is computed from the whole group.

import { compareToPlace, type Element, type SetBound, type SetOrder } from '../../model/sets/order.ts'
import type { ElementScan, ElementStream } from '../../model/sets/stream.ts'

/**
 * A stream of grouped elements. `groups` reads the groups between two places. A place is never within a group. The
 * elements of each group have the order of the set.
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

/** The place, or the edge of its group if the place contains a document after its values. */
function outsideGroup(place: SetBound, side: SetBound['side']): SetBound {
  return place.document === undefined || place.values.length === 0 ? place : { values: place.values, side }
}

/** The elements of one member, with the sources of all members. */
export function withSources(
  group: readonly Element[],
  members: readonly (readonly Element[])[],
): readonly Element[] {
  if (members.length === 1) return group
  const sources = [...new Set(members.flatMap(member => (member[0] as Element).sources))]
  return group.map(element => ({ ...element, sources }))
}
