// The schema files of version 10 (`.fsl`), as far as they matter to version 4: which collections there are, how long
// they keep history and documents, and the types of fields, if they say so.

import type { Json } from '../values/value.ts'
import { type FieldType, FieldTypes } from './field-types.ts'
import type { SchemaRecord } from './record.ts'

interface FslSchema {
  readonly collections: readonly SchemaRecord[]
  readonly types: FieldTypes
}

/** Types by the names they have in these files. */
const typeNames: Readonly<Record<string, FieldType>> = {
  Time: 'time',
  Date: 'date',
  Bytes: 'bytes',
  UUID: 'uuid',
  Int: 'long',
  Long: 'long',
  Double: 'double',
}

/** Reads a schema file. What is no collection (functions, roles of version 10) is passed over. */
export function readFsl(text: string, types: FieldTypes = new FieldTypes()): FslSchema {
  const collections: SchemaRecord[] = []
  const clean = withoutComments(text)
  for (const found of clean.matchAll(/\bcollection\s+([A-Za-z_]\w*)\s*\{/g)) {
    const name = found[1] as string
    const start = found.index + found[0].length
    const body = clean.slice(start, closing(clean, start))
    const params = new Map<string, Json>([['name', name]])
    for (const days of ['history_days', 'ttl_days']) {
      const count = new RegExp(`^\\s*${days}\\s+([0-9]+)`, 'm').exec(body)?.[1]
      if (count !== undefined) params.set(days, BigInt(count))
    }
    collections.push({ kind: 'schema', object: 'collection', name, params })
    readFields(body, name, '', types)
  }
  return { collections, types }
}

/** Comments become blanks; line ends stay, as they end fields. */
function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, found =>
    found.startsWith('"') ? found : ' ',
  )
}

/** Where the block that was opened before `from` is closed. */
function closing(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === '{') depth++
    else if (char === '}' && --depth === 0) return at
  }
  return text.length
}

/** Blocks of a collection that hold no fields. */
const otherBlocks =
  /^(?:index|unique|check|compute|migrations|constraints|history_days|ttl_days|document_ttls)\b/

function readFields(body: string, collection: string, prefix: string, types: FieldTypes): void {
  for (let at = 0; at < body.length; ) {
    const field = /\s*(?:;|,)?\s*("?)([A-Za-z_]\w*)\1\s*:\s*/y
    field.lastIndex = at
    const found = field.exec(body)
    const next = body.slice(at).trimStart()
    if (!found || otherBlocks.test(next)) {
      at = skipEntry(body, at)
      continue
    }
    const path = prefix + found[2]
    const start = field.lastIndex
    if (body[start] === '{') {
      const end = closing(body, start + 1)
      readFields(body.slice(start + 1, end), collection, `${path}.`, types)
      at = end + 1
      continue
    }
    const end = skipEntry(body, start)
    const type = fieldType(body.slice(start, end))
    if (type !== undefined) types.set(collection, path, type)
    at = end
  }
}

/** Behind the entry at `at`: its line, with the blocks that it opens. */
function skipEntry(text: string, from: number): number {
  let at = from
  while (at < text.length && /\s/.test(text[at] as string)) at++
  for (; at < text.length; at++) {
    const char = text[at]
    if (char === '{') at = closing(text, at + 1)
    else if (char === '\n' || char === ';' || char === ',') return at + 1
  }
  return at
}

/** `Time?`, `Ref<Category> | Null`, `Array<Date>`; undefined for what needs no help. */
function fieldType(text: string): FieldType | undefined {
  const plain = text.split('=')[0] as string
  const alternatives = plain
    .split('|')
    .map(each => each.replace(/[;,?]/g, '').trim())
    .filter(each => each !== '' && each !== 'Null')
  if (alternatives.length !== 1) return undefined
  const inner = /^Array<(.+)>$/.exec(alternatives[0] as string)?.[1] ?? (alternatives[0] as string)
  const ref = /^Ref<\s*([A-Za-z_]\w*)\s*>$/.exec(inner)?.[1]
  if (ref !== undefined) return { ref }
  return Object.hasOwn(typeNames, inner) ? typeNames[inner] : undefined
}
