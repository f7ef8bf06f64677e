// Updates schema files to match the stored definitions. Comments, the order of items and the layout do not change.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { GenerationCache } from '../../../base/generation-cache.ts'
import { treeBytes } from '../../syntax/nodes.ts'
import { Source } from '../../syntax/source.ts'
import { TextEdits } from './edit.ts'
import type { OutlineAnnotation, SourceRange } from './outline.ts'
import { type ParsedFile, parseFsl } from './parse-file.ts'
import { hasNoEffect, ItemPrinter, type Member, memberKey, printAnnotation } from './print.ts'
import { printName } from './print-expression.ts'
import { type ActionMember, type SchemaItem, withoutParentheses } from './schema-items.ts'

export interface FileText {
  readonly name: string
  readonly text: string
}

/** New items are added to this file. */
export const mainFile = 'main.fsl'

const preamble =
  '// The following schema is auto-generated.\n// This file contains FSL for FQL10-compatible schema items.\n\n'

const warning =
  '// WARNING: the following auto-generated items contain invalid FSL syntax.\n' +
  '// Please fix its syntax and re-submit the file. Contact support if you need\n' +
  '// assistance via https://support.fauna.com.\n\n\n'

/** Maximum size of the cache in bytes. */
const cachedBytesMax = 33_554_432
/** Estimated size of a fault in bytes. */
const faultBytes = 512

const cache = new GenerationCache<string, ParsedFile>(
  cachedBytesMax,
  ({ source, faults }) => treeBytes(source) + faults.length * faultBytes,
)

export function readFile({ name, text }: FileText): ParsedFile {
  const key = `${name}\n${text}`
  let parsed = cache.get(key)
  if (parsed === undefined) {
    parsed = parseFsl(new Source(name, text))
    cache.set(key, parsed)
  }
  return parsed
}

/** A file with faults may lack items. */
export function itemsIn(files: readonly FileText[]): readonly SchemaItem[] {
  return files.flatMap(file => readFile(file).items)
}

/** The key that identifies an item across files. */
export function itemKey({ kind, name }: Pick<SchemaItem, 'kind' | 'name'>): string {
  return `${kind} ${name.text}`
}

export function rangeWithComment({ commentStart, end }: SchemaItem): SourceRange {
  return { start: commentStart, end }
}

/** Appends the item after an empty line. */
function withItem(text: string, item: string): string {
  if (text.trim() === '') return `${item}\n`
  return `${text}${text.endsWith('\n') ? '' : '\n'}\n${item}\n`
}

/** `items` are the texts of the file's items, in order. */
function generatedText(items: readonly string[]): string {
  const text = `${preamble}${items.map(item => `${item}\n`).join('\n')}`
  return readFile({ name: mainFile, text }).faults.length > 0 ? warning + text : text
}

/**
 * `items` are the texts of all stored definitions. Removes other items from the files. Adds items that no valid file
 * contains to the main file, or replaces its text with these items if it has faults. Other files with faults do not
 * change.
 */
export function patchFiles(files: readonly FileText[], items: readonly string[]): readonly FileText[] {
  if (files.length === 0) return items.length === 0 ? [] : [{ name: mainFile, text: generatedText(items) }]
  const wanted = parseFsl(new Source(mainFile, items.join('\n\n'))).items
  const missing = new Map(wanted.map(item => [itemKey(item), item]))
  const patched = files.map(file => {
    const { faults, items: found } = readFile(file)
    if (faults.length > 0) return file
    const edits = new TextEdits()
    for (const item of found) {
      const other = missing.get(itemKey(item))
      missing.delete(itemKey(item))
      if (other === undefined) edits.cut(rangeWithComment(item))
      else new ItemPatch(item, other, edits).patch()
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

/** Adds the edits that turn `item` into `wanted`, which has the same kind and name. Unchanged parts keep their text. */
class ItemPatch {
  readonly #item: SchemaItem
  readonly #wanted: SchemaItem
  readonly #edits: TextEdits
  readonly #old: ItemPrinter
  readonly #new: ItemPrinter

  constructor(item: SchemaItem, wanted: SchemaItem, edits: TextEdits) {
    this.#item = item
    this.#wanted = wanted
    this.#edits = edits
    this.#old = new ItemPrinter(item.source.text)
    this.#new = new ItemPrinter(wanted.source.text)
  }

  patch(): void {
    step(stepsPerDefinition)
    const item = this.#item
    const wanted = this.#wanted
    this.#patchAnnotations()
    if (item.kind === 'function') {
      if (wanted.kind !== 'function') return
      if (this.#old.head(item) !== this.#new.head(wanted)) {
        const end = item.result?.end ?? item.list.end
        this.#edits.replace({ start: item.list.start, end }, this.#new.head(wanted))
      }
      const body = this.#new.block(wanted.body)
      if (this.#old.block(item.body) !== body) this.#edits.replace(item.body, body)
    } else if (wanted.kind !== 'function') {
      const members: readonly Member[] = item.members
      // Without fields, a collection with and a collection without the wildcard have the same meaning.
      const hasFields = [...members, ...wanted.members].some(({ kind }) => kind === 'field')
      const [old, next] = [members, wanted.members].map((each: readonly Member[]) =>
        hasFields ? each : each.filter(({ kind }) => kind !== 'wildcard'),
      ) as [readonly Member[], readonly Member[]]
      this.#patchMembers(item.block, old, next, 0)
    }
  }

  #patchAnnotations(): void {
    const start = this.#item.annotations[0]?.start ?? this.#item.keywordStart
    const range = { start, end: start }
    const wanted = new Map(this.#wanted.annotations.map(each => [each.kind, each]))
    const known = new Set(this.#item.annotations.map(({ kind }) => kind))
    const added = this.#wanted.annotations.filter(({ kind }: OutlineAnnotation) => !known.has(kind))
    for (const annotation of this.#item.annotations) {
      const other = wanted.get(annotation.kind)
      const successor = other === undefined ? added.shift() : undefined
      // A new annotation replaces a removed one, because a removal must not have the same offset as an insertion.
      if (successor !== undefined) this.#edits.replace(annotation, printAnnotation(successor))
      else if (other === undefined) this.#edits.cut(annotation)
      else if (other.name.text !== annotation.name.text) {
        this.#edits.replace(annotation.name, printName(other.name.text))
      }
    }
    // The hosted service inserted several annotations in reverse order.
    const lines = added.toReversed().map(each => `${printAnnotation(each)}\n`)
    if (lines.length > 0) this.#edits.replace(range, lines.join(''))
  }

  /**
   * `level` is the number of enclosing blocks. In nested blocks, new members are inserted in reverse order, as in the
   * hosted service.
   */
  #patchMembers(block: SourceRange, old: readonly Member[], wanted: readonly Member[], level: number): void {
    const before = new Map(old.map(each => [memberKey(each), each]))
    const after = new Map(wanted.map(each => [memberKey(each), each]))
    for (const [key, member] of before) {
      const other = after.get(key)
      if (other !== undefined) this.#patchMember(member, other)
      else if (!hasNoEffect(member)) this.#edits.cut(member)
    }
    const added = wanted.filter(each => !before.has(memberKey(each)) && !hasNoEffect(each))
    const ordered = [...added.filter(isField), ...added.filter(each => !isField(each))]
    const lines = ordered.map(each => this.#new.member(each))
    this.#edits.append(block, level, level > 0 ? lines.reverse() : lines)
  }

  #patchMember(old: Member, wanted: Member): void {
    if (this.#old.member(old) === this.#new.member(wanted)) return
    switch (old.kind) {
      case 'field':
        if (wanted.kind === 'field') this.#patchField(old, wanted)
        return
      case 'wildcard':
        if (wanted.kind === 'wildcard') this.#edits.replace(old.type, this.#new.type(wanted.type))
        return
      case 'computed':
        if (wanted.kind === 'computed') this.#patchComputed(old, wanted)
        return
      case 'index':
        if (wanted.kind === 'index') this.#patchMembers(old.block, old.members, wanted.members, 1)
        return
      case 'privileges':
        if (wanted.kind === 'privileges') this.#patchMembers(old.block, old.actions, wanted.actions, 1)
        return
      case 'check':
        if (wanted.kind === 'check') this.#edits.replace(old.body, this.#new.expression(wanted.body))
        return
      case 'action':
      case 'membership':
      case 'role':
        if (wanted.kind === old.kind) this.#patchPredicate(old, wanted)
        return
      case 'unique':
        return
      case 'migrations':
        this.#edits.replace(old, this.#new.member(wanted))
        return
      default: {
        // All other members are printed as their kind and their value.
        const value = this.#new.member(wanted).slice(wanted.kind.length + 1)
        this.#edits.replace(old.valueRange, value)
      }
    }
  }

  #patchField(old: Member & { kind: 'field' }, wanted: Member & { kind: 'field' }): void {
    const type = this.#new.type(wanted.type)
    if (this.#old.type(old.type) !== type) this.#edits.replace(old.type, type)
    const { defaultValue } = old
    const value = wanted.defaultValue && this.#new.expression(wanted.defaultValue)
    if (defaultValue === undefined) {
      if (value !== undefined) this.#edits.replace({ start: old.end, end: old.end }, ` = ${value}`)
    } else if (value === undefined) this.#edits.erase({ start: old.type.end, end: defaultValue.end })
    else if (this.#old.expression(defaultValue) !== value) this.#edits.replace(defaultValue, value)
  }

  #patchComputed(old: Member & { kind: 'computed' }, wanted: Member & { kind: 'computed' }): void {
    const typeRange = { start: old.name.end, end: old.type?.end ?? old.name.end }
    const type = wanted.type && this.#new.type(wanted.type)
    if (type === undefined) this.#edits.erase(typeRange)
    else if (old.type === undefined) this.#edits.replace(typeRange, `: ${type}`)
    else if (this.#old.type(old.type) !== type) this.#edits.replace(old.type, type)
    const isSame =
      this.#old.expression(withoutParentheses(old.body)) ===
      this.#new.expression(withoutParentheses(wanted.body))
    if (!isSame) this.#edits.replace(old.bodyRange, this.#new.expression(wanted.body))
  }

  #patchPredicate(
    old: Pick<ActionMember, 'name' | 'predicate' | 'end'>,
    { predicate }: Pick<ActionMember, 'predicate'>,
  ): void {
    if (old.predicate === undefined) {
      if (predicate === undefined) return
      this.#edits.replace({ start: old.end, end: old.end }, ` ${this.#new.predicate(predicate)}`)
    } else if (predicate === undefined) {
      this.#edits.erase({ start: old.name.end, end: old.predicate.block.end })
    } else this.#edits.replace(old.predicate.lambda, this.#new.expression(predicate.lambda))
  }
}

function isField({ kind }: Member): boolean {
  return kind === 'field' || kind === 'computed' || kind === 'wildcard'
}
