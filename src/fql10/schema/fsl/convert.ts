// Converts the outline of a file to items, and reports all faults.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { msg } from '../../../base/message.ts'
import type { Source } from '../../syntax/source.ts'
import { Conversion, DuplicateCheck, wordOf } from './conversion.ts'
import { providerMembers, roleMembers } from './convert-access.ts'
import { collectionMembers } from './convert-collection.ts'
import type { AnnotationPlace, NamePlace, OutlineFunction, OutlineItem, OutlineMember } from './outline.ts'
import type { FunctionItem, SchemaItem } from './schema-items.ts'

/** The items of a file that could be converted, and its faults. */
type ConversionResult = Pick<Conversion, 'faults'> & { readonly items: readonly SchemaItem[] }

/** Converts the outline of a file to items. */
export function convert(source: Source, outline: readonly OutlineItem[]): ConversionResult {
  const conversion = new Conversion(source)
  const names: Names = { duplicates: new DuplicateCheck(conversion), collections: new Set() }
  for (const item of outline) {
    if (item.form === 'member' && item.keyword.text === 'collection' && item.name !== undefined)
      names.collections.add(item.name.text)
  }
  const items = outline.flatMap(item => itemOf(item, conversion, names) ?? [])
  return { items, faults: conversion.faults }
}

/** The names of a file's items. */
interface Names {
  readonly duplicates: DuplicateCheck
  /** The names of its collections. */
  readonly collections: Set<string>
}

function itemOf(item: OutlineItem, conversion: Conversion, names: Names): SchemaItem | undefined {
  step(stepsPerDefinition)
  if (item.form === 'function') return functionItem(item, conversion, names)
  const word = wordOf(item)
  if (item.form === 'member') {
    switch (word.text) {
      case 'collection':
      case 'role':
      case 'access provider':
        return blockItem(item, word.text, conversion, names)
    }
  }
  return conversion.fault(msg`Invalid schema item \`${word.text}\``, word)
}

function blockItem(
  item: OutlineMember,
  kind: 'collection' | 'role' | 'access provider',
  conversion: Conversion,
  names: Names,
): SchemaItem | undefined {
  if (kind !== 'collection') conversion.rejectAnnotations(item)
  const name = conversion.nameOf(item)
  if (name === undefined) return undefined
  if (kind === 'collection') checkAnnotations(item.annotations, ['alias'], conversion)
  rejectDuplicates(kind, name, item, names)
  const block = conversion.blockOf(item)
  if (block === undefined) return undefined
  const base = {
    source: conversion.source,
    name,
    block,
    annotations: item.annotations,
    start: item.start,
    end: item.end,
    commentStart: item.commentStart,
    keywordStart: item.keyword.start,
  }
  switch (kind) {
    case 'collection':
      return { kind, ...base, members: collectionMembers(block, conversion) }
    case 'role':
      return { kind, ...base, members: roleMembers(block, conversion) }
    case 'access provider':
      return { kind, ...base, members: providerMembers(block, conversion) }
  }
}

/** Rejects duplicate annotations, and annotations that are not allowed. */
function checkAnnotations(
  annotations: readonly AnnotationPlace[],
  allowed: readonly AnnotationPlace['kind'][],
  conversion: Conversion,
): void {
  const duplicates = new DuplicateCheck(conversion)
  for (const annotation of annotations) {
    const { kind } = annotation
    if (allowed.includes(kind)) duplicates.add(`annotation \`${kind}\``, annotation)
    else conversion.fault(msg`Annotation not supported here`, annotation)
  }
}

function functionItem(item: OutlineFunction, conversion: Conversion, names: Names): FunctionItem | undefined {
  const { annotations, body, commentStart, end, keyword, list, name, parameters, result, start } = item
  checkAnnotations(annotations, ['alias', 'role'], conversion)
  rejectDuplicates('function', name, item, names)
  if (body === undefined) {
    return conversion.fault(msg`Expected a function definition`, { start: list.start, end })
  }
  checkTypes(item, conversion)
  const place = { source: conversion.source, start, end, commentStart, keywordStart: keyword.start }
  return { kind: 'function', ...place, name, annotations, parameters, list, result, body }
}

/** Either all parameters and the result have types, or none of them has. */
function checkTypes({ list, parameters, result }: OutlineFunction, conversion: Conversion): void {
  const [first] = parameters
  if (first === undefined) return
  const typed = first.type
  const expectation =
    typed === undefined
      ? conversion.hint('Expecting no types due to this argument not having a type', first.name)
      : conversion.hint('Expecting types due to this type annotation', typed)
  const remarks = [expectation]
  for (const { name, type } of parameters) {
    if ((type === undefined) !== (typed === undefined)) {
      conversion.fault(msg`All or no arguments must have a type`, name, { remarks })
    }
  }
  if (typed !== undefined && result === undefined) {
    const place = { start: list.end - 1, end: list.end }
    conversion.fault(msg`Return type is required when arguments have a type`, place, { remarks })
  } else if (typed === undefined && result !== undefined) {
    const message = msg`Return type is not allowed when arguments do not have a type`
    conversion.fault(message, result, { remarks })
  }
}

/** Rejects duplicate names. Collections and functions share one namespace for names and aliases. */
function rejectDuplicates(
  kind: SchemaItem['kind'],
  name: NamePlace,
  { annotations }: OutlineItem,
  { collections, duplicates }: Names,
): void {
  const isShared = kind === 'collection' || kind === 'function'
  const what = isShared ? 'collection or function' : kind
  const alias = annotations.find(annotation => annotation.kind === 'alias')?.name
  // A function with an alias may have the name of a collection, because it is called by its alias.
  const isHidden = kind === 'function' && alias !== undefined && collections.has(name.text)
  if (!isHidden) duplicates.addNamed(what, name)
  if (isShared && alias !== undefined) duplicates.addNamed(what, alias)
}
