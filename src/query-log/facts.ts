// Additional facts about a request, for which the export format of records has no fields. Facts are not exported. They
// are stored in the lines of segments (the files of the query log), between the trail (the ids of the databases, see
// ownership.ts) and the record. Example of a line:
//
//     /17/["key/0/12","admin","","10.0.0.1","/",0,["cusers"],[40,0]]{"API_VERSION":…}
//
// The facts are a JSON list without opening braces, so the first opening brace begins the record. The facts identify
// the caller by ids, and contain no value of any query. Empty elements at the end are omitted. Lines that version 0.1
// wrote have no facts. If the request wrote documents, the last element is the commit time of its transaction. With
// this time, a search finds the request that wrote a version of a document.

import { GenerationCache } from '../base/generation-cache.ts'
import { micros } from '../base/micros.ts'
import { anyMark, markedName } from '../values/names.ts'
import type { Micros } from '../values/value.ts'

/** The caller of a request: see `CallerMark` in `src/engine/engine-contract.ts`. */
export interface LogCaller {
  readonly credential: string
  readonly roles: readonly string[]
  readonly identity: string | undefined
}

/** A schema object named in a query. */
interface NamedObject {
  readonly kind: 'collection' | 'index' | 'function'
  readonly name: string
}

/** An error without values of the query. */
interface Fault {
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
  readonly fault: Fault | undefined
  /** The time of the commit; undefined for a request without writes. */
  readonly commitTime?: Micros | undefined
}

const kindLetters = { collection: 'c', index: 'i', function: 'f' } as const
const kinds = { c: 'collection', i: 'index', f: 'function' } as const

/** Maximum number of characters of a stored address or identity. */
const keptCharsMax = 200

/** Returns the text of the facts in a line. `holes`: see {@link PlainShape}. */
export function factsText(
  { address, caller, commitTime, endpoint, isSlow, named }: Omit<Facts, 'fault'>,
  fault: Facts['fault'],
  holes: readonly number[],
): string {
  const text = `[${who(caller, address)},"${endpoint}",${isSlow ? 1 : 0}`
  if (named.length === 0 && fault === undefined && commitTime === undefined) return `${text}]`
  const names = JSON.stringify(named.map(({ kind, name }) => kindLetters[kind] + name))
  const use = `${withoutBraces(names)},[${holes.join()}]`
  if (commitTime !== undefined) return `${text},${use},${faultText(fault)},${commitTime}]`
  return fault === undefined ? `${text},${use}]` : `${text},${use},${faultText(fault)}]`
}

function faultText(fault: Fault | undefined): string {
  if (fault === undefined) return 'null'
  return withoutBraces(JSON.stringify([fault.code, fault.text, fault.position]))
}

function who(caller: LogCaller | undefined, address: string): string {
  const credential = caller?.credential ?? ''
  const parts = [credential, caller?.roles.join() ?? '', cut(caller?.identity ?? ''), cut(address)]
  return withoutBraces(parts.map(each => JSON.stringify(each)).join())
}

function cut(text: string): string {
  return text.length > keptCharsMax ? `${text.slice(0, keptCharsMax)}…` : text
}

function withoutBraces(json: string): string {
  return json.includes('{') ? json.replaceAll('{', '\\u007b') : json
}

/**
 * The shape of a query: its text without values, and with `?` in place of each name. `holes`: two numbers for each
 * name, the position of its `?` in the shape and its index in {@link Facts.named}.
 */
interface PlainShape {
  readonly shape: string
  readonly holes: readonly number[]
}

/** Maximum number of cached shapes. The cache can be small, because an application has few different queries. */
const knownShapesMax = 1000
/** Maximum number of characters of a cached shape. */
const knownShapeCharsMax = 500

/** Removes the marks from shapes. A mark is a character that represents a name (`src/values/names.ts`). */
export class PlainShapes {
  readonly #known = new GenerationCache<string, PlainShape>(knownShapesMax)

  of(marked: string): PlainShape {
    const known = this.#known.get(marked)
    if (known !== undefined) return known
    const holes: number[] = []
    const shape = marked.replace(anyMark, (mark, place: number) => {
      holes.push(place, markedName(mark.charCodeAt(0)) as number)
      return '?'
    })
    if (marked.length <= knownShapeCharsMax) this.#known.set(marked, { shape, holes })
    return { shape, holes }
  }
}

/** Parsed facts, and the shape of the query with its names. */
export interface ParsedFacts extends Facts {
  readonly shape: string
}

/** Parses the facts of a line. `shape`: the shape in the record. Returns undefined for damaged facts. */
export function readFacts(text: string, shape: string): ParsedFacts | undefined {
  try {
    const [credential, roles, identity, address, endpoint, slow, names = [], holes = [], fault, commitTime] =
      JSON.parse(text) as FactsJson
    const named = names.map(each => ({ kind: kinds[each[0] as 'c' | 'i' | 'f'], name: each.slice(1) }))
    return {
      caller:
        credential === ''
          ? undefined
          : {
              credential,
              roles: roles === '' ? [] : roles.split(','),
              identity: identity === '' ? undefined : identity,
            },
      address,
      endpoint,
      isSlow: slow === 1,
      named,
      fault: fault ? { code: fault[0], text: fault[1], position: fault[2] } : undefined,
      commitTime: commitTime === undefined ? undefined : micros(commitTime),
      shape: filled(shape, holes, named),
    }
  } catch {
    return undefined
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
  holes?: readonly number[],
  fault?: readonly [string, string, string] | null,
  commitTime?: number,
]

/** Replaces each `?` at a position in `holes` by its name in `named`. */
function filled(shape: string, holes: readonly number[], named: readonly NamedObject[]): string {
  if (holes.length === 0) return shape
  // The positions were counted in the shape as a JSON string.
  const written = JSON.stringify(shape).slice(1, -1)
  let text = ''
  let done = 0
  for (let at = 0; at + 1 < holes.length; at += 2) {
    const place = holes[at] as number
    const name = named[holes[at + 1] as number]?.name ?? '?'
    text += written.slice(done, place) + JSON.stringify(name).slice(1, -1)
    done = place + 1
  }
  return JSON.parse(`"${text}${written.slice(done)}"`) as string
}
