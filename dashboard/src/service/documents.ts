// Reading and writing one document of a user collection.

import type { Notation } from '../language.ts'
import { pastTime } from '../router.ts'
import { scope } from '../session.ts'
import { type Query, writeJson } from '../wire/json.ts'
import { documentRef } from '../wire/refs.ts'
import { checkedQuery, deleteChecked, type Saved } from './checked.ts'
import { runText } from './client.ts'
import { heavy } from './heavy.ts'
import type { DocumentText } from './heavy-tasks.ts'

/** Where a document is. */
export interface DocumentName {
  readonly collection: string
  readonly id: string
}

/** A document, with its data in a notation. */
export async function readDocument(
  { collection, id }: DocumentName,
  notation: Notation,
  signal: AbortSignal,
): Promise<DocumentText> {
  const query: Query = { get: documentRef(collection, id) }
  const past = pastTime.value
  const body = writeJson(past === undefined ? query : { at: { '@ts': past }, expr: query })
  const { text } = await runText(body, scope.value, signal)
  return heavy({ kind: 'document', text, notation }, text.length)
}

/** What a document is to be. */
export interface Draft {
  readonly data: string
  readonly notation: Notation
  /** ISO 8601; empty when it does not expire. */
  readonly ttl: string
  /** With which it logs in; absent: it stays as it is. */
  readonly password?: string
}

/** The text of an expression for what `draft` says, put together as text: its data may be megabytes long. */
async function paramsText({ data, notation, ttl, password }: Draft): Promise<string> {
  const literal = await heavy({ kind: 'literal', text: data, notation }, data.length)
  const expiry = ttl === '' ? '' : `,"ttl":${writeJson({ time: ttl })}`
  const login = password === undefined ? '' : `,"credentials":${writeJson({ object: { password } })}`
  return `{"object":{"data":${literal}${expiry}${login}}}`
}

/**
 * Replaces a document, unless it has changed since `readAt` (its transaction time): checked and written in one
 * transaction, so that nothing of somebody else's is ever lost.
 */
export async function saveDocument(
  name: DocumentName,
  draft: Draft,
  readAt: bigint,
  signal: AbortSignal,
): Promise<Saved<DocumentText>> {
  const ref = documentRef(name.collection, name.id)
  // The change is put in as text: it may be megabytes long. Inside strings quotes are escaped, so the place is the only one.
  const [start, end] = writeJson(checkedQuery(ref, readAt, null)).split('{"done":null}') as [string, string]
  const replace = `{"select":"ts","from":{"replace":${writeJson(ref)},"params":${await paramsText(draft)}}}`
  const { text } = await runText(`${start}{"done":${replace}}${end}`, scope.value, signal)
  const changed = '{"resource":{"changed":'
  if (text.startsWith(changed)) {
    const inner = `{"resource":${text.slice(changed.length, -1)}`
    const theirs = await heavy({ kind: 'document', text: inner, notation: draft.notation }, text.length)
    return { kind: 'conflict', theirs }
  }
  if (!text.startsWith('{"resource":{"done":')) return { kind: 'gone' }
  return { kind: 'saved', version: await readDocument(name, draft.notation, signal) }
}

/** Creates a document, with an id of one's own or one that the service makes. Returns its id. */
export async function createDocument(
  collection: string,
  id: string,
  draft: Draft,
  signal: AbortSignal,
): Promise<string> {
  const target = writeJson(id === '' ? { collection } : documentRef(collection, id))
  const create = `{"create":${target},"params":${await paramsText(draft)}}`
  const { text } = await runText(`{"select":["ref","id"],"from":${create}}`, scope.value, signal)
  return /"resource":"(\d+)"/.exec(text)?.[1] ?? id
}

/** Deletes a document that was read at `readAt`. Throws `ChangedError` when it has changed since. */
export async function deleteDocument(
  { collection, id }: DocumentName,
  readAt: bigint,
  signal: AbortSignal,
): Promise<void> {
  await deleteChecked(documentRef(collection, id), readAt, signal)
}
