// Schema files brought in line with definitions: what is changed, and what is left as it is.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patchFiles } from '../../../../../src/fql10/schema/fsl/patch.ts'

/** The text of a file after the definitions have become what `items` say. */
function patched(text: string, ...items: readonly string[]): string {
  return patchFiles([{ name: 'main.fsl', text }], items)[0]?.text ?? ''
}

test('what means the same is left as it is', () => {
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

test('files that say nothing are generated, and not where there is nothing to say', () => {
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

test('new items go to main.fsl, which is made where there is none', () => {
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

test('a file that cannot be read is let be, and what it says goes to main.fsl', () => {
  const broken = { name: 'a.fsl', text: 'collection {' }
  const files = patchFiles([broken], ['collection A {\n}'])
  assert.deepEqual(
    files.map(({ name }) => name),
    ['a.fsl', 'main.fsl'],
  )
  assert.equal(files[0], broken)
})

test('members and actions come and go within blocks of any layout', () => {
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
