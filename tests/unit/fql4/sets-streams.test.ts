// Streams of elements: a scan from any position in either direction is a part of the whole scan. The whole scans of
// combined sets have a law in tests/laws/pages-of-a-set-are-the-set.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  differenceStream,
  distinctStream,
  filteredStream,
  intersectionStream,
  rangeStream,
  reversedStream,
  unionStream,
} from '../../../src/fql4/sets/streams.ts'
import {
  compareKeys,
  comparePlaces,
  compareToPlace,
  documentOrder,
  type Element,
  type ElementPlace,
  type ElementScan,
  type ElementStream,
  firstOf,
  indexOrder,
  placeWithin,
  reversedOrder,
  type SetOrder,
} from '../../../src/model/sets/stream.ts'
import { Ref, type Value } from '../../../src/values/value.ts'
import { fc } from '../../support/fast-check.ts'

const collection = 1024

function document(id: number): Ref {
  return new Ref(0n, collection, BigInt(id))
}

/** A stored set: sorted, and counting how many elements are read. */
class StoredStream implements ElementStream {
  readonly order: SetOrder
  readonly elements: readonly Element[]
  taken = 0

  constructor(elements: readonly Element[], order: SetOrder) {
    this.order = order
    this.elements = elements.toSorted((left, right) => compareElements(left, right, order))
  }

  *scan(scan: ElementScan): Generator<Element> {
    const from = scan.from && placeWithin(scan.from, this.order)
    const to = scan.to && placeWithin(scan.to, this.order)
    for (const element of this.#part(from, to, scan.reverse === true)) {
      this.taken++
      yield element
    }
  }

  #part(from: ElementPlace | undefined, to: ElementPlace | undefined, reverse: boolean): Element[] {
    const part = this.elements.filter(
      element =>
        (!from || compareToPlace(element, from, this.order) > 0) &&
        (!to || compareToPlace(element, to, this.order) < 0),
    )
    return reverse ? part.reverse() : part
  }
}

/** Written apart from the code under test: keys part by part, then documents. */
function compareElements(left: Element, right: Element, order: SetOrder): number {
  return compareKeys(left, right, order) || Number(left.document.id - right.document.id)
}

type Entry = readonly [values: readonly number[], id: number]

const ascending = indexOrder([false, false])
const mixed = indexOrder([true, false])

function entriesOf(arity: number): fc.Arbitrary<Entry[]> {
  const value = fc.integer({ min: 0, max: 3 })
  const values = fc.array(value, { minLength: arity, maxLength: arity })
  return fc.uniqueArray(fc.tuple(values, fc.integer({ min: 0, max: 9 })), { selector: entry => entry.join() })
}

function elementsOf(entries: readonly Entry[], source: number): Element[] {
  return entries.map(([values, id]) => ({
    values: values.map(BigInt),
    document: document(id),
    sources: [document(source)],
  }))
}

const shapes: readonly (readonly [name: string, order: SetOrder])[] = [
  ['documents', documentOrder],
  ['two values', ascending],
  ['two values, the first descending', mixed],
]

/** The form of an element in results. */
function shown({ values, document: { id } }: Element): string {
  return `${values.join()}/${id}`
}

const makers = {
  union: (streams: readonly StoredStream[]) => unionStream(streams),
  intersection: (streams: readonly StoredStream[]) => intersectionStream(streams),
  difference: (streams: readonly StoredStream[]) =>
    differenceStream(streams[0] as StoredStream, streams.slice(1)),
  distinct: (streams: readonly StoredStream[]) => distinctStream(streams[0] as StoredStream),
}

/** Positions as given by cursors: a prefix of values, or all values with a document. */
function placesOf(order: SetOrder): fc.Arbitrary<ElementPlace> {
  const side = fc.constantFrom('low' as const, 'high' as const)
  const values = (length: number) =>
    fc.array(fc.integer({ min: 0, max: 3 }).map(BigInt), { minLength: length, maxLength: length })
  const prefix = fc.nat({ max: order.arity }).chain(values)
  const exact = fc.record({ values: values(order.arity), document: fc.nat({ max: 9 }).map(document), side })
  return fc.oneof(fc.record({ values: prefix, side }), exact)
}

function scansOf(order: SetOrder): fc.Arbitrary<ElementScan> {
  const place = fc.option(placesOf(order), { nil: undefined })
  return fc.record({ from: place, to: place, reverse: fc.boolean() })
}

function expectScan(stream: ElementStream, all: readonly Element[], scan: ElementScan): void {
  const part = all.filter(
    element =>
      (!scan.from || compareToPlace(element, scan.from, stream.order) > 0) &&
      (!scan.to || compareToPlace(element, scan.to, stream.order) < 0),
  )
  const expected = scan.reverse ? part.toReversed() : part
  assert.deepEqual([...stream.scan(scan)].map(shown), expected.map(shown))
}

for (const [shape, order] of shapes) {
  for (const operation of ['union', 'intersection', 'difference', 'distinct'] as const) {
    test(`${operation} of ${shape} is read from any position in both directions`, () => {
      const sets = fc.array(entriesOf(order.arity), { minLength: 1, maxLength: 4 })
      fc.assert(
        fc.property(sets, scansOf(order), (entries, scan) => {
          const streams = entries.map((each, index) => new StoredStream(elementsOf(each, index), order))
          const stream = makers[operation](streams)
          const all = [...stream.scan({})]
          expectScan(stream, all, scan)
          const turned = reversedStream(stream)
          assert.deepEqual(turned.order, reversedOrder(order))
          expectScan(turned, all.toReversed(), scan)
        }),
      )
    })
  }

  test(`a range of ${shape} contains the elements between its positions, including ranges of ranges`, () => {
    const places = fc.tuple(placesOf(order), placesOf(order))
    fc.assert(
      fc.property(entriesOf(order.arity), places, places, scansOf(order), (entries, outer, inner, scan) => {
        const stored = new StoredStream(elementsOf(entries, 0), order)
        const stream = rangeStream(rangeStream(stored, ...inner), ...outer)
        const all = stored.elements.filter(element =>
          [inner, outer].every(
            ([from, to]) =>
              compareToPlace(element, from, order) > 0 && compareToPlace(element, to, order) < 0,
          ),
        )
        expectScan(stream, all, scan)
      }),
    )
  })

  test(`positions of ${shape} compare like the elements between them`, () => {
    fc.assert(
      fc.property(placesOf(order), placesOf(order), entriesOf(order.arity), (left, right, entries) => {
        const comparison = comparePlaces(left, right, order)
        assert.equal(Math.sign(comparison), -Math.sign(comparePlaces(right, left, order)) + 0)
        for (const element of elementsOf(entries, 0)) {
          const isBetween =
            compareToPlace(element, left, order) > 0 && compareToPlace(element, right, order) < 0
          if (isBetween) assert.ok(comparison < 0, `${shown(element)} lies between`)
        }
      }),
    )
  })
}

test('a union of references and of values that are references merges both by reference', () => {
  const parts = new StoredStream(
    elementsOf(
      [
        [[], 1],
        [[], 3],
      ],
      0,
    ),
    documentOrder,
  )
  const supplied: Element[] = [1, 2, 3].map(id => ({
    values: [document(id)],
    document: document(100 + id),
    sources: [document(9)],
  }))
  const stream = unionStream([parts, new StoredStream(supplied, indexOrder([false]))])
  const ids = (scan: ElementScan) =>
    [...stream.scan(scan)].map(({ values, document: own }) => ((values[0] as Ref | undefined) ?? own).id)
  assert.deepEqual(ids({}), [1n, 2n, 3n])
  assert.deepEqual(ids({ from: { values: [document(2)], side: 'low' } }), [2n, 3n])
  assert.deepEqual(ids({ from: { values: [document(2)], document: document(102), side: 'low' } }), [2n, 3n])
  assert.deepEqual(ids({ to: { values: [document(3)], side: 'low' }, reverse: true }), [2n, 1n])
  assert.deepEqual(ids({ from: { values: [0n], side: 'low' } }), [1n, 2n, 3n])
  assert.deepEqual(ids({ from: { values: [null], side: 'low' } }), [])
})

test('the elements of a union name all members that contain them', () => {
  const [one, two] = [
    new StoredStream(elementsOf([[[], 1]], 7), documentOrder),
    new StoredStream(
      elementsOf(
        [
          [[], 1],
          [[], 2],
        ],
        8,
      ),
      documentOrder,
    ),
  ]
  const sources = [...unionStream([one, two]).scan({})].map(element =>
    element.sources.map(set => (set as Ref).id),
  )
  assert.deepEqual(sources, [[7n, 8n], [8n]])
})

test('a filter passes on positions and omits elements that do not match', () => {
  const stored = new StoredStream(
    elementsOf(
      [
        [[], 1],
        [[], 2],
        [[], 3],
        [[], 4],
      ],
      0,
    ),
    documentOrder,
  )
  const even = filteredStream(stored, ({ document: { id } }) => id % 2n === 0n)
  const scan: ElementScan = { to: { values: [], document: document(4), side: 'low' }, reverse: true }
  assert.deepEqual([...even.scan(scan)].map(shown), ['/2'])
})

function many(count: number, step = 1, value?: (index: number) => Value): StoredStream {
  const elements = Array.from({ length: count }, (_, index) => ({
    values: value ? [value(index)] : [],
    document: document(index * step),
    sources: [],
  }))
  return new StoredStream(elements, value ? indexOrder([false]) : documentOrder)
}

test('the first elements of a union are read without the rest', () => {
  const [one, two] = [many(5000), many(5000, 3)]
  assert.equal(firstOf(unionStream([one, two]).scan({}))?.document.id, 0n)
  assert.ok(one.taken + two.taken <= 6, `${one.taken + two.taken} elements were read`)
})

test('an intersection skips through a large set at the cost of a small one', () => {
  const [big, small] = [many(5000), many(5, 1000)]
  assert.equal([...intersectionStream([big, small]).scan({})].length, 5)
  assert.ok(big.taken < 100, `${big.taken} elements of the big set were read`)
})

test('distinct skips long runs of equal values, in both directions', () => {
  const runs = many(5000, 1, index => BigInt(Math.floor(index / 1000)))
  const firsts = [0n, 1000n, 2000n, 3000n, 4000n]
  const forwards = [...distinctStream(runs).scan({})].map(({ document: { id } }) => id)
  assert.deepEqual(forwards, firsts)
  const backwards = [...distinctStream(runs).scan({ reverse: true })].map(({ document: { id } }) => id)
  assert.deepEqual(backwards, firsts.toReversed())
  assert.ok(runs.taken < 200, `${runs.taken} elements were read`)
})
