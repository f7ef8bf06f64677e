// Permitted queries of version 10 that are as expensive for the service as we can make them, like those in
// worst-queries.ts. They read the collection `worst`, which the preparation of those queries fills.

import type { Sizes } from './worst-queries.ts'

export interface WorstQuery10 {
  readonly name: string
  readonly query: (sizes: Sizes) => string
}

/** 8 elements, doubled repeatedly. */
const longArray = ({ doublings }: Sizes) =>
  `Array.sequence(0, ${doublings}).fold([1, 2, 3, 4, 5, 6, 7, 8], (x, _) => x.concat(x))`

/** About `text` units. */
const longText = ({ text }: Sizes, piece = 'ab') =>
  `Array.sequence(0, ${Math.floor(Math.log2(text / piece.length))}).fold(${JSON.stringify(piece)}, (x, _) => x + x)`

export const worstQueries10: readonly WorstQuery10[] = [
  // A control: the client that repeats requests without a pause uses the processor, too, so the reads wait for it.
  { name: 'v10: the cheapest query', query: () => '1' },
  { name: 'v10: a long array', query: longArray },
  { name: 'v10: a long array sorted', query: sizes => `${longArray(sizes)}.order(desc(x => x)).length` },
  {
    name: 'v10: distinct elements, all different',
    query: sizes => `${longArray(sizes)}.map(x => [x]).distinct().length`,
  },
  {
    name: 'v10: long arrays compared',
    query: sizes => `let a = ${longArray(sizes)}\n${times(50, 'a == a.reverse()')}`,
  },
  {
    name: 'v10: deeply nested values',
    query: ({ depth }) => `Array.sequence(0, ${depth}).fold(1, (x, _) => [x, x])`,
  },
  { name: 'v10: a long text', query: longText },
  {
    name: 'v10: all occurrences replaced',
    query: sizes => `${longText(sizes)}.replaceAll("a", "bc").length`,
  },
  { name: 'v10: a long text split', query: sizes => `${longText(sizes)}.split("b").length` },
  { name: 'v10: a pattern that scans ahead', query: sizes => `${longText(sizes)}.matches("a.*z|a").length` },
  {
    name: 'v10: a pattern with backtracking',
    query: sizes => `${longText(sizes)}.includesRegex("(a|ab)(?=c)|(\\\\w+)\\\\2z")`,
  },
  {
    name: 'v10: case folding and normalization',
    query: sizes => `${longText(sizes, 'É')}.casefold().casefold("NFKD").length`,
  },
  { name: 'v10: a long number parsed', query: sizes => `${longText(sizes, '1')}.parseNumber()` },
  { name: 'v10: a long array as text', query: sizes => `${longArray(sizes)}.toString().length` },
  {
    name: 'v10: nested lambdas',
    query: ({ elements }) =>
      `Array.sequence(0, ${elements}).map(x => Array.sequence(0, ${elements}).any(y => x + y < 0)).length`,
  },
  { name: 'v10: all documents counted', query: () => 'worst.all().count()' },
  { name: 'v10: a filter without matches', query: () => 'worst.where(.none == 1).toArray()' },
  { name: 'v10: many documents sorted', query: () => 'worst.all().take(16000).order(desc(.n)).first()' },
  { name: 'v10: a large page', query: () => 'worst.all().pageSize(16000)' },
  { name: 'v10: nested sets', query: () => 'worst.all().pageSize(200).map(_ => worst.all().pageSize(200))' },
  {
    name: 'v10: a cross join',
    query: () => 'worst.all().flatMap(x => worst.all().where(y => x == y)).first()',
  },
  { name: 'v10: a long sequence', query: () => 'Set.sequence(0, 2147483647).fold(0, (a, b) => a + b)' },
  {
    name: 'v10: schema definitions, then abort',
    query: () =>
      'Array.sequence(0, 1000).forEach(i => Collection.create({ name: "C#{i}" })); abort("enough")',
  },
  {
    name: 'v10: an array that grows by one',
    query: ({ elements }) => `Array.sequence(0, ${elements}).fold([], (x, i) => x.append(i)).length`,
  },
  {
    name: 'v10: an object that grows by one',
    query: ({ elements }) =>
      `Array.sequence(0, ${elements}).fold({}, (o, i) => Object.assign(o, { "k": i })).k`,
  },
  {
    name: 'v10: long arrays in templates',
    query: sizes => `let a = Array.sequence(0, 15000)\n${times(sizes.elements, '"#{a}".length')}`,
  },
  {
    name: 'v10: slices far from the start',
    query: sizes => `let t = ${longText(sizes, '😀é')}\n${times(sizes.elements, 't.slice(5, 90000).length')}`,
  },
  {
    name: 'v10: cursors over long arrays',
    query: sizes =>
      `let s = Array.sequence(0, 15000).toSet()\n${times(sizes.elements, 's.paginate(2).after.toString()')}`,
  },
  {
    name: 'v10: many concatenated sets',
    query: ({ sets }) =>
      `Array.sequence(0, ${sets}).fold(worst.all(), (s, _) => s.concat(worst.all())).count()`,
  },
  {
    name: 'v10: long texts logged',
    query: sizes => `let t = ${longText(sizes)}\n${times(sizes.elements, 'log(t)')}`,
  },
  {
    name: 'v10: a trace of long lines',
    query: () =>
      `/*${'x'.repeat(200_000)}*/ let f = (self, n) => if (n == 0) 1 / 0 else 1 + self(self, n - 1); f(f, 2000)`,
  },
  { name: 'v10: many faults in one line', query: () => `{${'a:1,'.repeat(50_000)}}` },
  { name: 'v10: a body of operators', query: ({ body }) => `1${'+1'.repeat(Math.floor(body / 2) - 8)}` },
  {
    name: 'v10: a body of brackets',
    query: ({ body }) => `[${'[],'.repeat(Math.floor(body / 3) - 8)}1].length`,
  },
  { name: 'v10: a body of text', query: ({ body }) => `"${'é'.repeat(Math.floor(body / 2) - 8)}".length` },
  {
    name: 'v10: a body of faults',
    // In JSON, the end of a line takes two characters.
    query: ({ body }) => 'let = 1\n'.repeat(Math.floor(body / 9) - 8),
  },
]

function times(count: number, expression: string): string {
  return `Array.sequence(0, ${count}).map(_ => ${expression}).length`
}
