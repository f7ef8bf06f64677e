// Updates of schema files to match definitions: changed parts, and parts that keep their text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patchFiles } from '../../../../../src/fql10/schema/fsl/patch.ts'

/** The text of a file, updated to match the definitions in `items`. */
function patched(text: string, ...items: readonly string[]): string {
  return patchFiles([{ name: 'main.fsl', text }], items)[0]?.text ?? ''
}

test('an item with an unchanged meaning keeps its text', () => {
  const text = `// head
@alias( Rack ) collection Shelf { /* a */ size : Int=1; ttl_days 0x5
  history_days 0; index byA { terms []; values [ asc(.a) ] } } // tail`
  const same = `@alias(Rack)
collection Shelf {
  size: Int = 1
  index byA {
    values [.a]
  }
  ttl_days 5
}`
  assert.equal(patched(text, same), text)
})

test('a file is generated only if there are definitions', () => {
  assert.deepEqual(patchFiles([], []), [])
  const [made] = patchFiles([], ['collection A {\n}', 'role B {\n}'])
  assert.equal(
    made?.text,
    `// The following schema is auto-generated.
// This file contains FSL for FQL10-compatible schema items.

collection A {
}

role B {
}
`,
  )
})

test('new items are added to main.fsl, which is created if necessary', () => {
  const other = { name: 'a.fsl', text: 'collection A {}' }
  const [kept, made] = patchFiles([other], ['collection A {\n}', 'collection B {\n}'])
  assert.deepEqual(kept, other)
  assert.match(made?.text ?? '', /auto-generated[\s\S]*\n\ncollection B {\n}\n$/)
  assert.equal(patched('', 'collection B {\n}'), 'collection B {\n}\n')
  assert.equal(
    patched('collection A {}', 'collection A {\n}', 'role B {\n}'),
    'collection A {}\n\nrole B {\n}\n',
  )
})

test('a file with syntax errors is kept, and its items are added to main.fsl', () => {
  const broken = { name: 'a.fsl', text: 'collection {' }
  const files = patchFiles([broken], ['collection A {\n}'])
  const names = files.map(({ name }) => name)
  assert.deepEqual(names, ['a.fsl', 'main.fsl'])
  assert.equal(files[0], broken)
})

test('members and actions are added to and removed from blocks in any layout', () => {
  assert.equal(
    patched(
      'role R { privileges A { read } }\n',
      'role R {\n  privileges A {\n    read\n    write\n    call {\n      predicate (x => true)\n    }\n  }\n  membership B {\n  predicate (.a)\n  }\n}',
    ),
    `role R { privileges A { read
    call {
      predicate ((x) => true)
    }
    write
  }
  membership B {
    predicate (.a)
  }
}
`,
  )
  assert.equal(
    patched(
      'role R {\n  membership A { /* c */ predicate (.a) }\n  membership B\n}',
      'role R {\n  membership A\n  membership B {\n    predicate (.b)\n  }\n}',
    ),
    'role R {\n  membership A\n  membership B {\n    predicate (.b)\n  }\n}',
  )
})
