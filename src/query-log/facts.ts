// Additional facts about a request, for which the export format of records has no fields. Facts are not exported. They
// identify the caller by ids, and contain no value of any query. If the request wrote documents, they contain the commit
// time of its transaction. With this time, a search finds the request that wrote a version of a document.
//
// Segments of lines, which versions before 1.0 wrote, contain the facts between the trail (the ids of the databases, see
// ownership.ts) and the record:
//
//     /17/["key/0/12","admin","","10.0.0.1","/",0,["cusers"],[40,0]]{"API_VERSION":…}
//
// These facts are a JSON list without opening braces, so the first opening brace begins the record. Empty elements at the
// end are omitted. `[40,0]` says that the first name replaces the character 40 of the shape. Lines that version 0.1 wrote
// have no facts.

import { micros } from '../base/micros.ts'
import type { Micros } from '../values/value.ts'
import { escaped } from './escaped.ts'

/** The caller of a request: see `CallerMark` in `src/engine/engine-contract.ts`. */
export interface LogCaller {
  readonly credential: string
  readonly roles: readonly string[]
  readonly identity: string | undefined
}

/** A schema object named in a query. */
export interface NamedObject {
  readonly kind: 'collection' | 'index' | 'function'
  readonly name: string
}

/** An error without values of the query. */
export interface LogFault {
  readonly code: string
  readonly text: string
  readonly position: string
}

/** The facts stored with a record, as plain data. */
export interface Facts {
  /** Undefined when the credential was rejected. */
  readonly caller: LogCaller | undefined
  readonly address: string
  readonly endpoint: string
  /** True if the request was evaluated in the slow lane, by a background query worker. */
  readonly isSlow: boolean
  readonly named: readonly NamedObject[]
  readonly fault: LogFault | undefined
  /** The time of the commit; undefined for a request without writes. */
  readonly commitTime?: Micros | undefined
}

/** The kind of an object, by the first letter of its stored text. */
const kinds = { c: 'collection', i: 'index', f: 'function' } as const

/** Parsed facts, and the shape of the query with its names. */
export interface ParsedFacts extends Facts {
  readonly shape: string
}

/** Parses the facts of a line. `shape`: the shape in the record. Returns undefined for damaged facts. */
export function readFacts(text: string, shape: string): ParsedFacts | undefined {
  try {
    const [
      credential,
      roles,
      identity,
      address,
      endpoint,
      slow,
      names = [],
      placeholders = [],
      fault,
      commitTime,
    ] = JSON.parse(text) as FactsJson
    const named = names.map(namedObject)
    return {
      caller: credential === '' ? undefined : logCaller(credential, roles, identity),
      address,
      endpoint,
      isSlow: slow === 1,
      named,
      fault: fault ? { code: fault[0], text: fault[1], position: fault[2] } : undefined,
      commitTime: commitTime === undefined ? undefined : micros(commitTime),
      shape: withNames(shape, placeholders, named),
    }
  } catch {
    return undefined
  }
}

/** Returns the object with a stored text, such as `cusers`. */
export function namedObject(text: string): NamedObject {
  return { kind: kinds[text[0] as 'c' | 'i' | 'f'], name: text.slice(1) }
}

/** Returns the caller with the stored texts. The roles are separated by commas. */
export function logCaller(credential: string, roles: string, identity: string): LogCaller {
  return {
    credential,
    roles: roles === '' ? [] : roles.split(','),
    identity: identity === '' ? undefined : identity,
  }
}

type FactsJson = readonly [
  credential: string,
  roles: string,
  identity: string,
  address: string,
  endpoint: string,
  slow: number,
  names?: readonly string[],
  placeholders?: readonly number[],
  fault?: readonly [string, string, string] | null,
  commitTime?: number,
]

/** `placeholders`: pairs of the position of a `?` in the shape and the index of its name in `named`. */
function withNames(shape: string, placeholders: readonly number[], named: readonly NamedObject[]): string {
  if (placeholders.length === 0) return shape
  // The positions were counted in the shape as a JSON string.
  const escapedShape = escaped(shape)
  let text = ''
  let done = 0
  for (let at = 0; at + 1 < placeholders.length; at += 2) {
    const position = placeholders[at] as number
    const name = named[placeholders[at + 1] as number]?.name ?? '?'
    text += escapedShape.slice(done, position) + escaped(name)
    done = position + 1
  }
  return JSON.parse(`"${text}${escapedShape.slice(done)}"`) as string
}
