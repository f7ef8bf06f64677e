// Detects the format of a file by its name and its content.

import { tryJson } from '../values/json.ts'
import { newline } from '../values/json-scan.ts'
import { type Json, nativeNamed } from '../values/value.ts'
import { isExportHeader } from './csv-cells.ts'
import { nameOfPath } from './export-paths.ts'
import { driverReference } from './formats/driver-values.ts'
import type { FormatName } from './formats/format.ts'
import { type ByteSource, readHead, readText, type TextFile } from './input.ts'
import { type JsonElement, jsonElements } from './json-elements.ts'
import { BadRecord } from './record.ts'
import { memberOf, readId } from './references.ts'

/** A format, with the facts that its reader needs. */
export type Content =
  | {
      readonly kind: 'json'
      readonly format: FormatName
      /** Each line has one object, so that a broken line can be skipped. */
      readonly byLine: boolean
      /** The file begins with a schema object. The import reads such files before the documents. */
      readonly isSchema: boolean
    }
  | { readonly kind: 'csv'; readonly separator: string }
  /** Queries of version 4 that create objects, from schema files or from the output of the shell. */
  | { readonly kind: 'fql' }
  | { readonly kind: 'fsl' }
  | { readonly kind: 'gql' }
  | { readonly kind: 'metadata' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'unknown' }

/** Also detects the encoding unless it is `given`. Throws `TransferError` when the file cannot be read. */
export async function detectContent(
  source: ByteSource,
  given: string | undefined,
): Promise<{ readonly content: Content; readonly encoding: string }> {
  const { encoding, head } = await readHead(source, given)
  return { encoding, content: await contentOf({ source, encoding }, head) }
}

async function contentOf(file: TextFile, head: Uint8Array): Promise<Content> {
  const name = nameOfPath(file.source.path.replace(/\.gz$/, ''))
  const text = textOf(head)
  if (text.trim() === '') return { kind: 'empty' }
  if (name.endsWith('.fsl')) return { kind: 'fsl' }
  if (name.endsWith('.gql') || name.endsWith('.graphql')) return { kind: 'gql' }
  if (name.endsWith('.fql')) return { kind: 'fql' }
  if (/^\s*[[{]/.test(text) && !name.endsWith('.csv')) {
    const found = await recognizeJson(file, head)
    if (found !== undefined) return found
  }
  if (fql4Start.test(text)) return { kind: 'fql' }
  const separator = separatorOf(text)
  if (name.endsWith('.csv') || name.endsWith('.tsv') || separator !== undefined)
    return { kind: 'csv', separator: separator ?? ',' }
  return { kind: 'unknown' }
}

async function recognizeJson(file: TextFile, head: Uint8Array): Promise<Content | undefined> {
  const element = await firstElement(file)
  // Reported later, when the import reads the file.
  if (element === 'cut off')
    return looksLikeJson(head) ? { kind: 'json', format: 'rows', byLine: false, isSchema: false } : undefined
  if (element === undefined) return { kind: 'empty' }
  const json = tryJson(element.text)
  const [first] = json === undefined ? [] : expand(json)
  if (!(first instanceof Map)) return undefined
  const format = formatOf(first)
  if (format === 'rows' && first.has('export_id') && first.has('total_parts')) return { kind: 'metadata' }
  return {
    kind: 'json',
    format,
    byLine: isByLine(head, element),
    isSchema: format === 'driver' && isSchema(first),
  }
}

/** Decodes UTF-8 without the byte order mark. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

function looksLikeJson(head: Uint8Array): boolean {
  return /^\s*(?:\[\s*)?\{\s*"/.test(textOf(head))
}

async function firstElement(file: TextFile): Promise<JsonElement | 'cut off' | undefined> {
  try {
    for await (const element of jsonElements(readText(file), { byLine: false })) return element
  } catch (error) {
    if (error instanceof BadRecord) return 'cut off'
    throw error
  }
  return undefined
}

/** True if the first element fills one line, and the next line, if any, begins with another element. */
function isByLine(head: Uint8Array, { next, text }: JsonElement): boolean {
  if (next.open > 0 || text.includes('\n')) return false
  const end = head.indexOf(newline, Math.min(next.offset, head.length))
  if (end < 0) return true
  const between = textOf(head.subarray(next.offset, end)).trim()
  const following = textOf(head.subarray(end)).trimStart()
  return between === '' && (following === '' || following.startsWith('{'))
}

/** Returns the elements of a page or of a response. Any other value counts as one element. */
export function expand(json: Json): readonly Json[] {
  if (!(json instanceof Map)) return [json]
  const resource = json.get('resource')
  if (json.size === 1 && resource !== undefined) return Array.isArray(resource) ? resource : expand(resource)
  const data = json.get('data')
  const isPage = Array.isArray(data) && [...json.keys()].every(key => pageMembers.has(key))
  return isPage && (data as readonly Json[]).every(each => each instanceof Map || Array.isArray(each))
    ? (data as readonly Json[])
    : [json]
}

const pageMembers: ReadonlySet<string> = new Set(['data', 'before', 'after'])

/** Recognizes the format by the members of an element. */
export function formatOf(first: ReadonlyMap<string, Json>): FormatName {
  const ref = first.get('ref')
  const coll = first.get('coll')
  const hasId = readId(first.get('id')) !== undefined
  // Checked first, because a document of an export may have a user field `ref`.
  if (coll instanceof Map && coll.has('@mod') && hasId) return 'tagged'
  // A reference of version 10, which contains `coll`, is a value and not the `ref` of a document.
  const wrapped = ref instanceof Map ? ref.get('@ref') : first.get('@ref')
  if (wrapped !== undefined && memberOf(wrapped, 'coll') === undefined) return 'driver'
  if (coll instanceof Map && typeof coll.get('name') === 'string' && hasId) return 'driver of version 10'
  if (typeof coll === 'string' && hasId && typeof first.get('ts') === 'string') return 'simple'
  if (typeof first.get('collectionId') === 'string' && first.get('document') instanceof Map)
    return 'documents'
  return 'rows'
}

/** Returns whether an object in the format of a driver belongs to a schema. */
function isSchema(first: ReadonlyMap<string, Json>): boolean {
  const wrapped = memberOf(first, 'ref', '@ref')
  if (wrapped === undefined) return false
  try {
    const { target } = driverReference(wrapped)
    if (target.type !== 'document') return true
    const collection = target.collection.target
    return collection.type === 'collection' && nativeNamed(collection.name.slice(1)) === 'keys'
  } catch (error) {
    if (error instanceof BadRecord) return false
    throw error
  }
}

/** The first call of a query, after comments, brackets, the members `ref` or `data`, and the driver's prefix `q.`. */
const fql4Start =
  /^(?:\s|\/\/[^\n]*\n|\/\*[\s\S]*?\*\/|[[{(]|\bref\s*:|\bdata\s*:|q\.)*(?:Create\w*|Update|Do|If|Ref|Let)\s*\(/

/** Returns the character that separates the cells in the first line, or undefined if the line is not a header. */
function separatorOf(text: string): string | undefined {
  const [line = ''] = text.split(/\r?\n/, 1)
  // The names of fields in an exported file may contain any character.
  if (isExportHeader(line.split(',', 3))) return ','
  return [',', '\t', ';'].find(separator => {
    const cells = line.split(separator)
    return cells.length > 1 && cells.every(cell => /^\s*"?[^"{}[\]:]{1,200}"?\s*$/.test(cell))
  })
}
