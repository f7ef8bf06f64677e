// Types of fields, for formats that cannot distinguish a time from a text. They come from `.fsl` files, or from the
// option `--type` (for example, `--type Collection.field::time`), with the type names of the command-line tool of
// Fauna's hosted service.

import { decodeBase64 } from '../values/base64.ts'
import { parseDate } from '../values/date.ts'
import { parseTime } from '../values/time.ts'
import { parseUuid } from '../values/uuid.ts'
import { type Json, Time, type Value } from '../values/value.ts'
import { excerptOf } from './formats/special-forms.ts'
import { BadRecord, TransferError } from './record.ts'
import { documentReference, readId } from './references.ts'

/** A type, or references to documents of one collection. */
export type ImportType = keyof typeof conversions | { readonly ref: string }

const conversions = {
  time: ofText(parseTime),
  date: ofText(parseDate),
  bytes: ofText(decodeBase64),
  uuid: ofText(parseUuid),
  string: (json: Json) => (typeof json === 'object' ? undefined : String(json)),
  long: whole,
  double: decimal,
  number: (json: Json) => (typeof json === 'number' ? json : (whole(json) ?? decimal(json))),
  bool: (json: Json) => (typeof json === 'boolean' ? json : truth(json)),
  dateString: ofText(text => parseTime(text) ?? anyDate(text)),
  dateEpochMillis: (json: Json) => sinceEpoch(json, 1000n),
  dateEpochSeconds: (json: Json) => sinceEpoch(json, 1n),
} as const

type Conversion = (json: Json) => Value | undefined

function ofText(read: (text: string) => Value | undefined): Conversion {
  return json => (typeof json === 'string' ? read(json) : undefined)
}

function whole(json: Json): bigint | undefined {
  const text = typeof json === 'bigint' || typeof json === 'string' ? String(json).trim() : ''
  if (!/^[+-]?[0-9]{1,19}$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? value : undefined
}

function decimal(json: Json): number | undefined {
  if (typeof json === 'number' || typeof json === 'bigint') return Number(json)
  if (typeof json !== 'string' || json.trim() === '') return undefined
  const value = Number(json)
  return Number.isNaN(value) ? undefined : value
}

const truths = new Set(['true', 't', 'yes', '1'])

function truth(json: Json): boolean | undefined {
  return typeof json === 'object' ? undefined : truths.has(String(json).trim().toLowerCase())
}

/** Reads a text of the type `dateString` in any format that `Date.parse` accepts. */
function anyDate(text: string): Time | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : sinceEpoch(BigInt(ms), 1000n)
}

function sinceEpoch(json: Json, perSecond: bigint): Time | undefined {
  const count = whole(json)
  if (count === undefined) return undefined
  const rest = ((count % perSecond) + perSecond) % perSecond
  return new Time((count - rest) / perSecond, Number((rest * 1_000_000_000n) / perSecond))
}

/** Throws {@link BadRecord} when the value does not fit the type. */
export function convert(json: Json, type: ImportType): Value {
  if (json === null) return null
  if (typeof type === 'object') {
    const id = readId(json instanceof Map ? json.get('id') : json)
    if (id === undefined) throw misfit(json, `reference to ${type.ref}`)
    return documentReference(type.ref, id)
  }
  const value = conversions[type](json)
  if (value === undefined) throw misfit(json, type)
  return value
}

function misfit(json: Json, type: string): BadRecord {
  return new BadRecord(`${excerptOf(json)} is not a valid ${type}`)
}

/** Types of fields by collection and path. */
export class FieldTypes {
  readonly #types = new Map<string, ImportType>()

  /** `path`: names separated by dots. Without `collection`, the type applies to the field in every collection. */
  set(collection: string | undefined, path: string, type: ImportType): void {
    this.#types.set(`${collection ?? '*'} ${path}`, type)
  }

  get(collection: string, path: string): ImportType | undefined {
    if (this.#types.size === 0) return undefined
    return this.#types.get(`${collection} ${path}`) ?? this.#types.get(`* ${path}`)
  }

  /**
   * Adds the type in a text such as `Collection.field::type`, or `field::type` for every collection. The type `ref`
   * needs the name of the referenced collection: `order.customer::ref=Customer`. Throws {@link TransferError}.
   */
  add(text: string): void {
    const at = text.lastIndexOf('::')
    const field = text.slice(0, Math.max(0, at))
    const type = readType(text.slice(at + 2))
    if (at < 1 || type === undefined) {
      const known = Object.keys(conversions).join(', ')
      throw new TransferError(
        `--type ${text}: expected FIELD::TYPE, where TYPE is one of ${known}, ref=COLLECTION`,
      )
    }
    this.set(undefined, field, type)
    // The first name in the path may be the name of a collection.
    const point = field.indexOf('.')
    if (point > 0) this.set(field.slice(0, point), field.slice(point + 1), type)
  }
}

function readType(text: string): ImportType | undefined {
  if (text.startsWith('ref=')) return { ref: text.slice(4) }
  const aliases: Readonly<Record<string, ImportType>> = { int: 'long', integer: 'long', boolean: 'bool' }
  const name = Object.hasOwn(aliases, text) ? (aliases[text] as string) : text
  return Object.hasOwn(conversions, name) ? (name as keyof typeof conversions) : undefined
}
