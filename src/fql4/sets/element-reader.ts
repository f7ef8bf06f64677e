// Reads a stream in one direction, and can seek to a later place. A short seek reads all elements before this place. A
// long seek opens a new scan at this place.

import {
  compareKeys,
  compareToPlace,
  type Element,
  type ElementScan,
  type ElementStream,
  type SetBound,
  type SetOrder,
} from '../../model/sets/stream.ts'

/** Number of elements read one by one before a new scan is opened. */
const stepsMax = 8

export class ElementReader {
  readonly #stream: ElementStream
  readonly #order: SetOrder
  readonly #scan: ElementScan
  #elements: Iterator<Element>
  /** The current element; undefined at the end. */
  current: Element | undefined

  /** `order`: the order of the merge to which the stream belongs. */
  constructor(stream: ElementStream, order: SetOrder, scan: ElementScan) {
    this.#stream = stream
    this.#order = order
    this.#scan = scan
    this.#elements = stream.scan(scan)[Symbol.iterator]()
    this.advance()
  }

  advance(): void {
    const next = this.#elements.next()
    this.current = next.done ? undefined : next.value
  }

  close(): void {
    this.#elements.return?.()
  }

  /** Moves to the first element after `place` in the direction of reading. */
  seek(place: SetBound): void {
    for (let steps = 0; this.#isShortOf(place); steps++) {
      if (steps === stepsMax) {
        this.#reopen(place)
        return
      }
      this.advance()
    }
  }

  #isShortOf(place: SetBound): boolean {
    if (this.current === undefined) return false
    const side = compareToPlace(this.current, place, this.#order)
    return this.#scan.reverse ? side > 0 : side < 0
  }

  #reopen(place: SetBound): void {
    this.close()
    const rest = this.#scan.reverse ? { ...this.#scan, to: place } : { ...this.#scan, from: place }
    this.#elements = this.#stream.scan(rest)[Symbol.iterator]()
    this.advance()
  }

  /** Reads all elements with the key of the current element. Returns these elements in the order of the set. */
  takeGroup(): Element[] {
    const group: Element[] = []
    const first = this.current as Element
    while (this.current && compareKeys(this.current, first, this.#order) === 0) {
      group.push(this.current)
      this.advance()
    }
    return this.#scan.reverse ? group.reverse() : group
  }
}
