// Reads values of formats without types: `simple` exports, rows of JSON and CSV. Types given by the user are applied.
// Texts that look like another type are reported.

import type { Json, Value } from '../../values/value.ts'
import { convert } from '../field-types.ts'
import { nativeInExport, readId } from '../references.ts'
import { deletedName, namedReference, textOrPrinted } from './export-values.ts'
import type { ElementContext } from './format.ts'
import type { Notation } from './notation.ts'

/** The notation. It throws `BadRecord` for a value that does not fit its type. */
export function plainNotation(place: ElementContext): Notation {
  return (json, path) => {
    if (Array.isArray(json)) return undefined
    const type = place.types.get(place.collection, path)
    if (type !== undefined) return convert(json, type)
    if (json instanceof Map) return reference(json, place)
    if (typeof json !== 'string') return undefined
    reportLookalike(json, path, place)
    return textOrPrinted(json, place)
  }
}

/** Reads an object of exactly `coll` and an id or a name as a reference, if its target can exist. */
function reference(json: ReadonlyMap<string, Json>, place: ElementContext): Value | undefined {
  const coll = json.get('coll')
  if (json.size !== 2 || typeof coll !== 'string') return undefined
  const [id, name] = [json.get('id'), json.get('name')]
  const isKnown =
    readId(id) === undefined
      ? typeof name === 'string' && nativeInExport(coll) !== undefined && !place.isUserCollection(coll)
      : coll === deletedName || place.isCollection(coll)
  return isKnown ? namedReference(coll, id, name, place) : undefined
}

const timeLike = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/
const dateLike = /^\d{4}-\d\d-\d\d$/
const uuidLike = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

function reportLookalike(text: string, path: string, { collection, notes }: ElementContext): void {
  if (text.length < 10 || text.length > 40) return
  const type = timeLike.test(text)
    ? 'time'
    : dateLike.test(text)
      ? 'date'
      : uuidLike.test(text)
        ? 'uuid'
        : undefined
  if (type !== undefined) notes.lookalike(collection, path, type)
}
