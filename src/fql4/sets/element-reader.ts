// Reads a stream of elements in one direction, and seeks forward. A short seek reads and skips elements. A long seek
// opens a new scan at the target place.

import {
  compareKeys,
  compareToPlace,
  type Element,
  type ElementPlace,
  type ElementScan,
  type ElementStream,
  type SetOrder,
} from '../../model/sets/stream.ts'

/** Number of elements that a seek skips before it opens a new scan. */
const stepsMax = 8

export class ElementReader {
  readonly #stream: ElementStream
  readonly #order: SetOrder
  readonly #scan: ElementScan
  #elements: Iterator<Element>
  /** Undefined at the end of the stream. */
  current: Element | undefined

  /** In a combined set, all readers have the `order` of the combined set. */
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

  /** Moves to the first element that follows `place` in the reading direction. */
  seek(place: ElementPlace): void {
    for (let steps = 0; this.#isShortOf(place); steps++) {
      if (steps === stepsMax) {
        this.#reopen(place)
        return
      }
      this.advance()
    }
  }

  #isShortOf(place: ElementPlace): boolean {
    if (this.current === undefined) return false
    const side = compareToPlace(this.current, place, this.#order)
    return this.#scan.reverse ? side > 0 : side < 0
  }

  #reopen(place: ElementPlace): void {
    this.close()
    const rest = this.#scan.reverse ? { ...this.#scan, to: place } : { ...this.#scan, from: place }
    this.#elements = this.#stream.scan(rest)[Symbol.iterator]()
    this.advance()
  }

  /** Returns all elements with the current key, in the order of the set even if the stream is read in reverse. */
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
