// Reading and writing one document of a user collection.

import type { Notation } from '../language.ts'
import { pastTime } from '../router.ts'
import { scope } from '../session.ts'
import { type Query, writeJson } from '../wire/json.ts'
import { documentRef } from '../wire/refs.ts'
import { runText } from './client.ts'
import { write } from './data.ts'
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
}

/** The outcome of saving: written at a time, or not, because somebody else has changed the document. */
type Saved =
  | { readonly kind: 'saved'; readonly ts: bigint }
  | { readonly kind: 'conflict'; readonly theirs: DocumentText }
  | { readonly kind: 'gone' }

/** The text of an expression for what `draft` says, put together as text: its data may be megabytes long. */
async function paramsText({ data, notation, ttl }: Draft): Promise<string> {
  const literal = await heavy({ kind: 'literal', text: data, notation }, data.length)
  const expiry = ttl === '' ? '' : `,"ttl":${writeJson({ time: ttl })}`
  return `{"object":{"data":${literal}${expiry}}}`
}

/**
 * Replaces a document, unless it has changed since `readAt` (its transaction time): checked and written in one
 * transaction, so that nothing of somebody else's is ever lost. With `readAt` undefined it is replaced in any case.
 */
export async function saveDocument(
  name: DocumentName,
  draft: Draft,
  readAt: bigint | undefined,
  signal: AbortSignal,
): Promise<Saved> {
  const ref = writeJson(documentRef(name.collection, name.id))
  const params = await paramsText(draft)
  const replace = `{"object":{"saved":{"select":"ts","from":{"replace":${ref},"params":${params}}}}}`
  const same = readAt === undefined ? 'true' : `{"equals":[{"select":"ts","from":{"get":${ref}}},${readAt}]}`
  const guarded = `{"if":${same},"then":${replace},"else":{"object":{"conflict":{"get":${ref}}}}}`
  const body = `{"if":{"exists":${ref}},"then":${guarded},"else":{"object":{"gone":true}}}`
  const answer = await runText(body, scope.value, signal)
  const { text } = answer
  if (text.startsWith('{"resource":{"conflict":')) {
    const inner = `{"resource":${text.slice('{"resource":{"conflict":'.length, -1)}`
    const theirs = await heavy({ kind: 'document', text: inner, notation: draft.notation }, text.length)
    return { kind: 'conflict', theirs }
  }
  const saved = /^\{"resource":\{"saved":(\d+)/.exec(text)?.[1]
  return saved === undefined ? { kind: 'gone' } : { kind: 'saved', ts: BigInt(saved) }
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

/** Deletes a document. */
export async function deleteDocument({ collection, id }: DocumentName, signal: AbortSignal): Promise<void> {
  await write({ delete: documentRef(collection, id) }, signal)
}

/** Sets the password with which a document logs in. */
export async function setPassword(
  { collection, id }: DocumentName,
  password: string,
  signal: AbortSignal,
): Promise<void> {
  const credentials = { credentials: { object: { password } } }
  await write(
    { select: 'ts', from: { update: documentRef(collection, id), params: { object: credentials } } },
    signal,
  )
}
