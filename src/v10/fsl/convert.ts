// From the outline of a file to its items, or to everything that is wrong with them.

import { step, stepsPerDefinition } from '../../base/effort.ts'
import type { Source } from '../syntax/source.ts'
import { Conversion, Onces } from './conversion.ts'
import { providerMembers, roleMembers } from './convert-access.ts'
import { collectionMembers } from './convert-collection.ts'
import type { FunctionItem, SchemaItem } from './nodes.ts'
import type { AnnotationPlace, OutlineFunction, OutlineItem, OutlineMember } from './outline.ts'

/** What came of a file: its items, as far as they are understood, and what is wrong. */
type Converted = Pick<Conversion, 'faults'> & { readonly items: readonly SchemaItem[] }

/** Finds the items in the outline of a file. */
export function convert(source: Source, outline: readonly OutlineItem[]): Converted {
  const conversion = new Conversion(source)
  const items = outline.flatMap(item => itemOf(item, conversion) ?? [])
  refuseDuplicates(items, conversion)
  return { items, faults: conversion.faults }
}

function itemOf(item: OutlineItem, conversion: Conversion): SchemaItem | undefined {
  step(stepsPerDefinition)
  if (item.form === 'function') return functionItem(item, conversion)
  if (item.form !== 'member') return undefined
  switch (item.keyword.text) {
    case 'collection':
    case 'role':
    case 'access provider':
      return blockItem(item, item.keyword.text, conversion)
  }
  return conversion.fault(`Invalid schema item \`${item.keyword.text}\``, item.keyword)
}

function blockItem(
  item: OutlineMember,
  kind: 'collection' | 'role' | 'access provider',
  conversion: Conversion,
): SchemaItem | undefined {
  if (kind === 'collection') checkAnnotations(item.annotations, ['alias'], conversion)
  else conversion.refuseAnnotations(item)
  const name = conversion.nameOf(item)
  const block = conversion.blockOf(item)
  if (block === undefined) return undefined
  const base = {
    source: conversion.source,
    name: name ?? { text: '', start: block.start, end: block.start },
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

/** Refuses annotations of other kinds, and those that are given twice. */
function checkAnnotations(
  annotations: readonly AnnotationPlace[],
  allowed: readonly AnnotationPlace['kind'][],
  conversion: Conversion,
): void {
  const onces = new Onces(conversion)
  for (const annotation of annotations) {
    const { kind } = annotation
    if (allowed.includes(kind)) onces.add(`annotation \`${kind}\``, annotation)
    else conversion.fault('Annotation not supported here', annotation)
  }
}

function functionItem(item: OutlineFunction, conversion: Conversion): FunctionItem | undefined {
  const { annotations, body, commentStart, end, keywordStart, list, name, parameters, result, start } = item
  checkAnnotations(annotations, ['alias', 'role'], conversion)
  checkTypes(item, conversion)
  if (body === undefined) {
    return conversion.fault('Expected a function definition', { start: list.start, end })
  }
  const place = { source: conversion.source, start, end, commentStart, keywordStart }
  return { kind: 'function', ...place, name, annotations, parameters, list, result, body }
}

/** All parameters and the result have types, or none has. */
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
      conversion.fault('All or no arguments must have a type', name, { remarks })
    }
  }
  if (typed !== undefined && result === undefined) {
    const place = { start: list.end - 1, end: list.end }
    conversion.fault('Return type is required when arguments have a type', place, { remarks })
  } else if (typed === undefined && result !== undefined) {
    const message = 'Return type is not allowed when arguments do not have a type'
    conversion.fault(message, result, { remarks })
  }
}

/** Names of one kind, and those that collections and functions share with their aliases. */
function refuseDuplicates(items: readonly SchemaItem[], conversion: Conversion): void {
  const onces = new Onces(conversion)
  for (const item of items) {
    const isShared = item.kind === 'collection' || item.kind === 'function'
    const what = isShared ? 'collection or function' : item.kind
    const alias = item.annotations.find(({ kind }) => kind === 'alias')?.name
    // A function with an alias may be called like a collection: it is reached by the alias.
    const isHidden =
      item.kind === 'function' &&
      alias !== undefined &&
      items.some(each => each.kind === 'collection' && each.name.text === item.name.text)
    for (const name of [...(isHidden ? [] : [item.name]), ...(isShared && alias ? [alias] : [])]) {
      if (name.text !== '') onces.addNamed(what, name)
    }
  }
}
