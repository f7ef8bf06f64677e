// Updates schema files to match the stored definitions. Comments, order and layout are kept.

import { GenerationCache } from '../../../base/generation-cache.ts'
import { treeBytesPerUnit } from '../../syntax/nodes.ts'
import { Source } from '../../syntax/source.ts'
import { TextEdits } from './edit.ts'
import type { SourceRange } from './outline.ts'
import { type ParsedFile, parseFsl } from './parse-file.ts'
import { patchItem } from './patch-item.ts'
import type { SchemaItem } from './schema-items.ts'

/** A file with its name and text. */
export interface FileText {
  readonly name: string
  readonly text: string
}

/** The file for new items. */
export const mainFile = 'main.fsl'

const preamble =
  '// The following schema is auto-generated.\n// This file contains FSL for FQL10-compatible schema items.\n\n'

const warning =
  '// WARNING: the following auto-generated items contain invalid FSL syntax.\n' +
  '// Please fix its syntax and re-submit the file. Contact support if you need\n' +
  '// assistance via https://support.fauna.com.\n\n\n'

/** Upper bounds for cached files in bytes: for all trees, and for each fault. */
const cachedBytesMax = 33_554_432
const faultBytes = 512

const cache = new GenerationCache<string, ParsedFile>(
  cachedBytesMax,
  ({ file, faults }) => (64 + file.source.text.length) * treeBytesPerUnit + faults.length * faultBytes,
)

/** Parses a file, or returns the cached result. */
export function readFile({ name, text }: FileText): ParsedFile {
  const key = `${name}\n${text}`
  let parsed = cache.get(key)
  if (parsed === undefined) {
    parsed = parseFsl(new Source(name, text))
    cache.set(key, parsed)
  }
  return parsed
}

/** The items of all files that can be parsed. */
export function itemsIn(files: readonly FileText[]): readonly SchemaItem[] {
  return files.flatMap(file => readFile(file).file.items)
}

/** The key that identifies an item across files. */
export function itemKey({ kind, name }: Pick<SchemaItem, 'kind' | 'name'>): string {
  return `${kind} ${name.text}`
}

/** The range of an item with its comment. */
export function placeWithComment({ commentStart, end }: SchemaItem): SourceRange {
  return { start: commentStart, end }
}

/** Appends an item to a text, after an empty line. */
function withItem(text: string, item: string): string {
  if (text.trim() === '') return `${item}\n`
  return `${text}${text.endsWith('\n') ? '' : '\n'}\n${item}\n`
}

/** The text of a generated file. `items` are the texts of its items, in order. */
function generatedText(items: readonly string[]): string {
  const text = `${preamble}${items.map(item => `${item}\n`).join('\n')}`
  return readFile({ name: mainFile, text }).faults.length > 0 ? warning + text : text
}

/**
 * Updates files to match definitions; `items` are the texts of their items. Without files and definitions, the result
 * is empty. Files with syntax errors are kept, and their items count as missing.
 */
export function patchFiles(files: readonly FileText[], items: readonly string[]): readonly FileText[] {
  if (files.length === 0) return items.length === 0 ? [] : [{ name: mainFile, text: generatedText(items) }]
  const wanted = parseFsl(new Source(mainFile, items.join('\n\n'))).file.items
  const missing = new Map(wanted.map(item => [itemKey(item), item]))
  const patched = files.map(file => {
    const { faults, file: parsed } = readFile(file)
    if (faults.length > 0) return file
    const edits = new TextEdits()
    for (const item of parsed.items) {
      const other = missing.get(itemKey(item))
      missing.delete(itemKey(item))
      if (other === undefined) edits.cut(placeWithComment(item))
      else patchItem(item, other, edits)
    }
    return edits.isEmpty ? file : { ...file, text: edits.applied(file.text) }
  })
  return missing.size === 0 ? patched : withNewItems(patched, [...missing.values()])
}

function withNewItems(files: readonly FileText[], items: readonly SchemaItem[]): readonly FileText[] {
  const texts = items.map(({ end, source, start }) => source.text.slice(start, end))
  const main = files.find(({ name }) => name === mainFile)
  if (main === undefined) return [...files, { name: mainFile, text: generatedText(texts) }]
  const isBroken = readFile(main).faults.length > 0
  const text = isBroken ? generatedText(texts) : texts.reduce(withItem, main.text)
  return files.map(file => (file === main ? { ...main, text } : file))
}
