// Defines the members of documents: methods, and the fields that can be read from a reference. All other names are
// fields of the stored document.

import { type Doc, Id } from '../value.ts'
import { entriesFor, type LibraryEntry, type Members, members } from './entry.ts'
import { struct } from './parameters.ts'

const { field, method } = entriesFor<Doc>()

const collection = field('coll', {
  type: 'DocCollection',
  summary: 'The collection of the document.',
  example: ['Author.byId(1).coll', 'Author'],
  read: doc => doc.collection,
})

const id = field('id', {
  type: 'ID',
  summary: 'The id of the document.',
  example: ['Author.byId(1).id', '"1"'],
  read: doc => new Id(doc.ref.id),
})

const name = field('name', {
  type: 'String',
  summary: 'The name of the schema object.',
  example: ['Function.byName("shout").name', '"shout"'],
  read: doc => doc.name ?? '',
})

const common = [
  method('exists', {
    effect: 'read',
    // The type of a missing document has `() => false` (typing/shape-texts.ts).
    type: '() => true',
    summary: 'True if the document exists and the caller may read it.',
    example: ['Author.byId(1).exists()', 'true'],
    run: (doc, _, call) => call.evaluation.world.documents.absence(doc, call) === undefined,
  }),
  method('update', {
    effect: 'write',
    parameters: { data: struct },
    type: '(data: { *: Any }) => Doc',
    summary:
      'Merges the fields `data` into the document and returns it. Nested objects are merged too; null removes a field.',
    example: ['Author.byId(1)!.update({ born: 1990 }).born', '1990'],
    run: (doc, { data }, call) => call.evaluation.world.writer.change('update', doc, data, 'default', call),
  }),
  method('replace', {
    effect: 'write',
    parameters: { data: struct },
    type: '(data: { *: Any }) => Doc',
    summary:
      'Replaces the fields of the document with `data` and returns it. Fields that `data` does not contain are removed.',
    example: ['Author.byId(2)!.replace({ name: "Bo" }).name', '"Bo"'],
    run: (doc, { data }, call) => call.evaluation.world.writer.change('replace', doc, data, 'default', call),
  }),
  method('delete', {
    effect: 'write',
    type: '() => NullDoc',
    summary: 'Deletes the document. The result is a reference to the deleted document.',
    example: ['Author.byId(2)!.delete().exists()', 'false'],
    run: (doc, _, call) => call.evaluation.world.writer.remove(doc, call),
  }),
]

const plain = [
  method('updateData', {
    effect: 'write',
    parameters: { data: struct },
    type: '(data: { *: Any }) => Doc',
    summary:
      'Merges the fields `data` into the document and returns it. In contrast to `update`, reserved names such as `id` and `ttl` are ordinary fields.',
    example: ['Author.byId(1)!.updateData({ id: "a" }).data.id', '"a"'],
    run: (doc, { data }, call) => call.evaluation.world.writer.change('update', doc, data, 'plain', call),
  }),
  method('replaceData', {
    effect: 'write',
    parameters: { data: struct },
    type: '(data: { *: Any }) => Doc',
    summary:
      'Replaces the fields of the document with `data` and returns it. In contrast to `replace`, reserved names such as `id` and `ttl` are ordinary fields.',
    example: ['Author.byId(1)!.replaceData({ id: "a" }).data', '{\n  id: "a"\n}'],
    run: (doc, { data }, call) => call.evaluation.world.writer.change('replace', doc, data, 'plain', call),
  }),
]

export const documentMembers: Members = members('Document', [id, collection, ...common, ...plain])

/** Schema objects have names instead of ids. */
export const namedDocumentMembers: Members = members('NamedDocument', [name, collection, ...common])

/** Creates the fields and methods of documents with an id: keys, tokens or credentials. `own` adds entries. */
export function numberedDocumentMembers(table: string, own: readonly LibraryEntry[] = []): Members {
  return members(table, [id, collection, ...common, ...own])
}
