// The textual difference of schema files.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textualDiff } from '../../../../../src/fql10/schema/fsl/diff/textual.ts'

const files = (texts: Readonly<Record<string, string>>) => new Map(Object.entries(texts))

function compared(before: string, after: string): readonly string[] {
  const [name, ...lines] = textualDiff(files({ a: before }), files({ a: after }), undefined).split('\n')
  assert.equal(name, 'a')
  assert.equal(lines.pop(), '')
  return lines
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}`).join('\n')

test('changed lines replace each other one by one, and surplus lines follow', () => {
  assert.deepEqual(compared('x\na\nb\nc\ny', 'x\nA\ny'), [
    '@ line 1 to 5',
    '  x',
    '- a',
    '+ A',
    '- b',
    '- c',
    '  y',
  ])
  assert.deepEqual(compared('x\na\ny', 'x\nA\nB\ny'), ['@ line 1 to 4', '  x', '- a', '+ A', '+ B', '  y'])
})

test('a change has three lines of context; seven unchanged lines separate two hunks', () => {
  const [before, six, seven] = [numbered(1, 20), numbered(2, 7), numbered(2, 8)]
  const titles = (after: string) => compared(before, after).filter(line => line.startsWith('@'))
  assert.deepEqual(titles(`x\n${six}\ny\n${numbered(9, 20)}`), ['@ line 1 to 11'])
  assert.deepEqual(titles(`x\n${seven}\ny\n${numbered(10, 20)}`), ['@ line 1 to 4', '@ line 6 to 12'])
})

test('line numbers refer to the new text; the last number is at most the number of rows', () => {
  const before = numbered(1, 20)
  const after = `${numbered(1, 4)}\n${numbered(7, 15)}\n17\n18\nx\n19\n20`
  const titles = compared(before, after).filter(line => line.startsWith('@'))
  assert.deepEqual(titles, ['@ line 2 to 7', '@ line 11 to 19'])
})

test('empty lines have no trailing blanks', () => {
  assert.deepEqual(
    compared('a\n\nb\n', 'a\n\nb\n\n'),
    ['@ line 2 to 4', '', '  b', '+'].with(0, '@ line 1 to 4').toSpliced(1, 0, '  a'),
  )
})

test('new and deleted files are shown completely, with an empty line between files', () => {
  const before = files({ b: 'x', c: 'same' })
  const after = files({ a: 'y\nz\n', c: 'same' })
  const diff = 'a\n@ line 1 to 2\n+ y\n+ z\n\nb\n@ line 1 to 1\n- x\n'
  assert.equal(textualDiff(before, after, undefined), diff)
  assert.equal(textualDiff(before, before, undefined), '')
})

test('line endings and a missing newline at the end are not a difference', () => {
  assert.equal(textualDiff(files({ a: 'x\r\ny' }), files({ a: 'x\ny\n' }), undefined), '')
})

test('colors enclose each line', () => {
  const diff = textualDiff(files({ a: 'x\ny' }), files({ a: 'x\nz' }), 'ansi')
  assert.equal(
    diff,
    '\u001b[1;34ma\u001b[0m\n\u001b[1;34m@ line 1 to 2\u001b[0m\n  x\n\u001b[31m- y\u001b[0m\n\u001b[32m+ z\u001b[0m\n',
  )
})

test('texts without common lines are shown as replaced, whatever their length', () => {
  const [before, after] = [numbered(1, 30_000), numbered(40_001, 70_000)]
  const lines = compared(before, after)
  assert.equal(lines.length, 60_001)
  assert.deepEqual(lines.slice(0, 3), ['@ line 1 to 30000', '- 1', '+ 40001'])
})
