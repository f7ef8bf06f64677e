// Reads and writes single documents of user collections.

import type { Notation } from '../language.ts'
import { currentSecret } from '../session.ts'
import { writeJson } from '../wire/json.ts'
import { documentRef } from '../wire/refs.ts'
import { checkedQuery, type SaveOutcome } from './checked-writes.ts'
import { runText } from './client.ts'
import { atPastTime } from './data.ts'
import { runTextTask } from './text-task-runner.ts'
import type { DocumentText } from './text-tasks.ts'

export interface DocumentName {
  readonly collection: string
  readonly id: string
}

/** Reads the document at the past time that the dashboard shows, if any. The result contains the data in `notation`. */
export async function readDocument(
  { collection, id }: DocumentName,
  notation: Notation,
  signal: AbortSignal,
): Promise<DocumentText> {
  const body = writeJson(atPastTime({ get: documentRef(collection, id) }))
  const { text } = await runText(body, currentSecret.value, signal)
  return runTextTask({ kind: 'document', text, notation }, text.length)
}

/** Content of a document as the user of the dashboard has entered it. */
export interface Draft {
  readonly data: string
  readonly notation: Notation
  /** ISO 8601; empty if the document does not expire. */
  readonly ttl: string
  /** The password with which apps log in as the document. If undefined, the password stays unchanged. */
  readonly password?: string
}

/** Returns the parameters of a write as text, because the data may be megabytes long. */
async function paramsText({ data, notation, ttl, password }: Draft): Promise<string> {
  const literal = await runTextTask({ kind: 'literal', text: data, notation }, data.length)
  const expiry = ttl === '' ? '' : `,"ttl":${writeJson({ time: ttl })}`
  const login = password === undefined ? '' : `,"credentials":${writeJson({ object: { password } })}`
  return `{"object":{"data":${literal}${expiry}${login}}}`
}

/** Replaces a document if it still has the transaction time `readAt`. */
export async function saveDocument(
  name: DocumentName,
  draft: Draft,
  readAt: bigint,
  signal: AbortSignal,
): Promise<SaveOutcome<DocumentText>> {
  const ref = documentRef(name.collection, name.id)
  // The new data is inserted as text, because it may be megabytes long. JSON strings escape quotes, so the marker
  // `{"done":null}` occurs only once.
  const [start, end] = writeJson(checkedQuery(ref, readAt, null)).split('{"done":null}') as [string, string]
  const replace = `{"replace":${writeJson(ref)},"params":${await paramsText(draft)}}`
  const { text } = await runText(`${start}{"done":${replace}}${end}`, currentSecret.value, signal)
  const [, outcome = ''] = /^\{"resource":\{"(done|changed)":/.exec(text) ?? []
  if (outcome === '') return { kind: 'gone' }
  const inner = `{"resource":${text.slice(`{"resource":{"${outcome}":`.length, -1)}`
  const stored = await runTextTask({ kind: 'document', text: inner, notation: draft.notation }, text.length)
  return outcome === 'done' ? { kind: 'saved', version: stored } : { kind: 'conflict', theirs: stored }
}

/** If `id` is empty, the service chooses an id. Returns the id. */
export async function createDocument(
  collection: string,
  id: string,
  draft: Draft,
  signal: AbortSignal,
): Promise<string> {
  const target = writeJson(id === '' ? { collection } : documentRef(collection, id))
  const create = `{"create":${target},"params":${await paramsText(draft)}}`
  const { text } = await runText(`{"select":["ref","id"],"from":${create}}`, currentSecret.value, signal)
  return /"resource":"(\d+)"/.exec(text)?.[1] ?? id
}
