// Parses schema files: converts the outline of a file (outline.ts) to items. Reports all faults of the conversion, but
// only the syntax errors if the outline has any.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { msg } from '../../../base/message.ts'
import { resourceActions } from '../../../model/auth/access-contract.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import { readWhole } from '../../syntax/parse-query.ts'
import type { Source } from '../../syntax/source.ts'
import { Conversion, DuplicateCheck, errorRange, nodeOf, wordOf } from './conversion.ts'
import { collectionMembers } from './convert-collection.ts'
import type {
  OutlineAnnotation,
  OutlineBlock,
  OutlineFunction,
  OutlineItem,
  OutlineMember,
  OutlineName,
} from './outline.ts'
import { OutlineParser } from './outline-parser.ts'
import type {
  ActionMember,
  FunctionItem,
  PredicatedMember,
  PrivilegesMember,
  ProviderMember,
  RoleMember,
  SchemaItem,
  TextMember,
} from './schema-items.ts'

function convert(source: Source, outline: readonly OutlineItem[]): ParsedFile {
  const conversion = new Conversion(source)
  const names: FileNames = { duplicates: new DuplicateCheck(conversion), collections: new Set() }
  for (const item of outline) {
    if (item.form === 'member' && item.keyword.text === 'collection' && item.name !== undefined)
      names.collections.add(item.name.text)
  }
  const items = outline.flatMap(item => itemOf(item, conversion, names) ?? [])
  return { source, items, faults: conversion.faults }
}

interface FileNames {
  /** Rejects repeated names and aliases. */
  readonly duplicates: DuplicateCheck
  /** The names of collections, for the exception in {@link rejectDuplicates}. */
  readonly collections: Set<string>
}

function itemOf(item: OutlineItem, conversion: Conversion, names: FileNames): SchemaItem | undefined {
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
  names: FileNames,
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

/** Rejects annotations that occur twice or are not allowed. */
function checkAnnotations(
  annotations: readonly OutlineAnnotation[],
  allowed: readonly OutlineAnnotation['kind'][],
  conversion: Conversion,
): void {
  const duplicates = new DuplicateCheck(conversion)
  for (const annotation of annotations) {
    const { kind } = annotation
    if (allowed.includes(kind)) duplicates.add(`annotation \`${kind}\``, annotation)
    else conversion.fault(msg`Annotation not supported here`, annotation)
  }
}

function functionItem(
  item: OutlineFunction,
  conversion: Conversion,
  names: FileNames,
): FunctionItem | undefined {
  const { annotations, body, commentStart, end, keyword, list, name, parameters, result, start } = item
  checkAnnotations(annotations, ['alias', 'role'], conversion)
  rejectDuplicates('function', name, item, names)
  if (body === undefined) {
    return conversion.fault(msg`Expected a function definition`, { start: list.start, end })
  }
  checkTypes(item, conversion)
  const range = { source: conversion.source, start, end, commentStart, keywordStart: keyword.start }
  return { kind: 'function', ...range, name, annotations, parameters, list, result, body }
}

/**
 * If the first parameter has a type, all other parameters and the result must have types. Otherwise, none of them may
 * have a type. Functions without parameters are not checked.
 */
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
    const range = { start: list.end - 1, end: list.end }
    conversion.fault(msg`Return type is required when arguments have a type`, range, { remarks })
  } else if (typed === undefined && result !== undefined) {
    const message = msg`Return type is not allowed when arguments do not have a type`
    conversion.fault(message, result, { remarks })
  }
}

/** Collections and functions share one namespace for names and aliases. */
function rejectDuplicates(
  kind: SchemaItem['kind'],
  name: OutlineName,
  { annotations }: OutlineItem,
  { collections, duplicates }: FileNames,
): void {
  const isShared = kind === 'collection' || kind === 'function'
  const what = isShared ? 'collection or function' : kind
  const alias = annotations.find(annotation => annotation.kind === 'alias')?.name
  // Like the parser of the hosted service, accepts a function with an alias and the name of a collection. A push rejects
  // both names (push-plan.ts).
  const isHidden = kind === 'function' && alias !== undefined && collections.has(name.text)
  if (!isHidden) duplicates.addNamed(what, name)
  if (isShared && alias !== undefined) duplicates.addNamed(what, alias)
}

const actions: ReadonlySet<string> = new Set(resourceActions)

function roleMembers({ members }: OutlineBlock, conversion: Conversion): readonly RoleMember[] {
  const duplicates = new DuplicateCheck(conversion)
  return members.flatMap((item): RoleMember | readonly RoleMember[] => {
    const word = wordOf(item)
    if (item.form === 'member' && word.text === 'privileges')
      return privilegesMember(item, duplicates, conversion) ?? []
    if (item.form === 'member' && word.text === 'membership')
      return predicatedMember('membership', item, duplicates, conversion) ?? []
    return conversion.fault(msg`Invalid member \`${word.text}\``, word) ?? []
  })
}

function privilegesMember(
  item: OutlineMember,
  names: DuplicateCheck,
  conversion: Conversion,
): PrivilegesMember | undefined {
  conversion.rejectAnnotations(item)
  const name = conversion.nameOf(item)
  if (name === undefined) return undefined
  names.addNamed('privileges', name)
  const block = conversion.blockOf(item)
  if (block === undefined) return undefined
  const duplicates = new DuplicateCheck(conversion)
  const found = block.members.flatMap((action): ActionMember | readonly ActionMember[] => {
    const word = wordOf(action)
    conversion.rejectAnnotations(action)
    if (action.form !== 'member' || !actions.has(word.text))
      return conversion.fault(msg`Invalid action \`${word.text}\``, word) ?? []
    if (!duplicates.addNamed('action', word)) return []
    const predicate = conversion.optionalPredicate(action)
    return { kind: 'action', name: word, predicate, start: action.start, end: action.end }
  })
  return { kind: 'privileges', name, block, actions: found, start: item.start, end: item.end }
}

function predicatedMember<K extends 'membership' | 'role'>(
  kind: K,
  item: OutlineMember,
  duplicates: DuplicateCheck,
  conversion: Conversion,
): PredicatedMember<K> | undefined {
  conversion.rejectAnnotations(item)
  const name = conversion.nameOf(item)
  if (name === undefined) return undefined
  duplicates.addNamed(kind, name)
  const predicate = conversion.optionalPredicate(item)
  return { kind, name, predicate, start: item.start, end: item.end }
}

function providerMembers(block: OutlineBlock, conversion: Conversion): readonly ProviderMember[] {
  const duplicates = new DuplicateCheck(conversion)
  const given = new Set<string>()
  const members = block.members.flatMap((item): ProviderMember | readonly ProviderMember[] => {
    const word = wordOf(item)
    if (item.form === 'member') {
      if (word.text === 'issuer' || word.text === 'jwks_uri') {
        given.add(word.text)
        return textMember(item, word.text, duplicates, conversion) ?? []
      }
      if (word.text === 'role') return predicatedMember('role', item, duplicates, conversion) ?? []
    }
    return conversion.fault(msg`Invalid member \`${word.text}\``, word) ?? []
  })
  if (!given.has('issuer')) conversion.fault(msg`Missing issuer`, block)
  if (!given.has('jwks_uri')) conversion.fault(msg`Missing jwks uri`, block)
  return members
}

const titles = { issuer: 'issuer', jwks_uri: 'jwks uri' } as const

function textMember(
  item: OutlineMember,
  kind: keyof typeof titles,
  duplicates: DuplicateCheck,
  conversion: Conversion,
): TextMember | undefined {
  const { end, keyword, start } = item
  conversion.rejectAnnotations(item)
  if (!duplicates.add(titles[kind], keyword)) return undefined
  const given = conversion.valueOf(item)
  if (given === undefined) return undefined
  const node = nodeOf(given)
  if (node?.kind === 'template') {
    for (const part of node.parts) {
      if (typeof part !== 'string') {
        conversion.fault(msg`Cannot interpolate values in a string literal`, errorRange(part))
      }
    }
    return undefined
  }
  if (node?.kind !== 'literal' || typeof node.value !== 'string') {
    return conversion.fault(msg`Expected string literal`, errorRange(given))
  }
  return { kind, value: node.value, valueRange: node, start, end }
}

/** If there are no faults, the items are complete. */
export interface ParsedFile {
  /** `source.name` is the name of the file. */
  readonly source: Source
  readonly items: readonly SchemaItem[]
  readonly faults: readonly Diagnostic[]
}

/** `source.name` is the name of the file. Faults are returned, never thrown. */
export function parseFsl(source: Source): ParsedFile {
  const parser = new OutlineParser(source)
  const { faults, result } = readWhole(parser, () => parser.file())
  if (result === undefined || faults.length > 0) return { source, items: [], faults }
  return convert(source, result)
}
