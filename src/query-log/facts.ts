// What is known of a request beside its record. The format of records is that of exports and has no place for it, so it stands
// in the line of a segment before the record, behind the trail, and is in no export:
//
//     /17/["key/0/12","admin","","10.0.0.1","/",0,["cusers"],[40,0]]{"API_VERSION":…}
//
// It is a JSON list without braces: the first one in a line begins the record. It tells who asked by numbers, and no value of
// any query. The list ends early where the rest is empty. Lines that 0.1 wrote have none. Records of writes end with the time of
// their transaction, which leads from a version of a document to the request that wrote it; the document itself is not named.

import { GenerationCache } from '../base/generation-cache.ts'
import { micros } from '../base/micros.ts'
import { anyMark, markedName } from '../values/name-marks.ts'
import type { Micros } from '../values/value.ts'

/** Who asked: see `CallerMark` in `src/engine/contract.ts`. */
export interface LoggedCaller {
  readonly credential: string
  readonly roles: readonly string[]
  readonly identity: string | undefined
}

/** A schema object that a query has named. */
interface NamedObject {
  readonly kind: 'collection' | 'index' | 'function'
  readonly name: string
}

/** What went wrong, without values. */
interface Fault {
  readonly code: string
  readonly text: string
  readonly position: string
}

/** What is written beside a record. A plain value. */
export interface Facts {
  /** Undefined: the credential was refused. */
  readonly caller: LoggedCaller | undefined
  /** Where the request came from. */
  readonly address: string
  /** The path of the endpoint. */
  readonly endpoint: string
  /** It was evaluated in the slow lane. */
  readonly isSlow: boolean
  readonly named: readonly NamedObject[]
  readonly fault: Fault | undefined
  /** The time of the commit; undefined for a request that wrote nothing. */
  readonly commitTime?: Micros | undefined
}

const kindLetters = { collection: 'c', index: 'i', function: 'f' } as const
const kinds = { c: 'collection', i: 'index', f: 'function' } as const

/** Characters of an address, a name or a subject that are kept: there are hardly longer ones. */
const keptCharsMax = 200

/** Writes the facts of requests. Those of one application mostly come in a row and differ in little. */
export class FactsFormat {
  #lastCaller: LoggedCaller | undefined
  #lastAddress = ''
  #lastWho = who(undefined, '')
  #lastNamed: readonly NamedObject[] = []
  #lastHoles: readonly number[] = []
  #lastUse = ''

  /** The facts as they stand in a line; `holes`: see {@link PlainShapes}. Runs once per request. */
  text(facts: Omit<Facts, 'fault'>, fault: Facts['fault'], holes: readonly number[]): string {
    const { address, caller, commitTime, endpoint, isSlow, named } = facts
    if (address !== this.#lastAddress || !isSame(caller, this.#lastCaller)) {
      this.#lastCaller = caller
      this.#lastAddress = address
      this.#lastWho = who(caller, address)
    }
    const text = `[${this.#lastWho},"${endpoint}",${isSlow ? 1 : 0}`
    if (named.length === 0 && fault === undefined && commitTime === undefined) return `${text}]`
    const use = this.#use(named, holes)
    if (commitTime !== undefined) return `${text}${use},${faultText(fault)},${commitTime}]`
    return fault === undefined ? `${text}${use}]` : `${text}${use},${faultText(fault)}]`
  }

  #use(named: readonly NamedObject[], holes: readonly number[]): string {
    const isKnown =
      named.length === this.#lastNamed.length &&
      holes.length === this.#lastHoles.length &&
      named.every((each, at) => {
        const last = this.#lastNamed[at]
        return each.name === last?.name && each.kind === last.kind
      }) &&
      holes.every((each, at) => each === this.#lastHoles[at])
    if (!isKnown || this.#lastUse === '') {
      this.#lastNamed = named
      this.#lastHoles = holes
      const names = JSON.stringify(named.map(({ kind, name }) => kindLetters[kind] + name))
      this.#lastUse = `,${withoutBraces(names)},[${holes.join()}]`
    }
    return this.#lastUse
  }
}

function faultText(fault: Fault | undefined): string {
  if (fault === undefined) return 'null'
  return withoutBraces(JSON.stringify([fault.code, fault.text, fault.position]))
}

function isSame(left: LoggedCaller | undefined, right: LoggedCaller | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  return (
    left.credential === right.credential &&
    left.identity === right.identity &&
    left.roles.length === right.roles.length &&
    left.roles.every((role, at) => role === right.roles[at])
  )
}

function who(caller: LoggedCaller | undefined, address: string): string {
  const credential = caller?.credential ?? ''
  const parts = [credential, caller?.roles.join() ?? '', cut(caller?.identity ?? ''), cut(address)]
  return withoutBraces(parts.map(each => JSON.stringify(each)).join())
}

function cut(text: string): string {
  return text.length > keptCharsMax ? `${text.slice(0, keptCharsMax)}…` : text
}

/** Braces within texts, escaped. */
function withoutBraces(json: string): string {
  return json.includes('{') ? json.replaceAll('{', '\\u007b') : json
}

/** A shape as records have it; `holes` has the place there of each name, and which of the names it is. */
interface PlainShape {
  readonly shape: string
  readonly holes: readonly number[]
}

/** Shapes with marks that are remembered, and how long they are: queries of one application have few. */
const knownShapesMax = 1000
const knownShapeCharsMax = 500

/** Takes the marks out of shapes. */
export class PlainShapes {
  readonly #known = new GenerationCache<string, PlainShape>(knownShapesMax)

  /** The shape, given with marks as the inside of a JSON string. */
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

/** Facts as they were written, and the shape of the query with the names that the record's leaves out. */
export interface ReadFacts extends Facts {
  readonly shape: string
}

/** The facts in a line whose record has that shape; undefined for damage. */
export function readFacts(text: string, shape: string): ReadFacts | undefined {
  try {
    const [credential, roles, identity, address, endpoint, slow, names = [], holes = [], fault, commitTime] =
      JSON.parse(text) as WrittenFacts
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

type WrittenFacts = readonly [
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

/** A shape with names in the place of some `?`. */
function filled(shape: string, holes: readonly number[], named: readonly NamedObject[]): string {
  if (holes.length === 0) return shape
  // Places count in the shape as it stands in the record.
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
