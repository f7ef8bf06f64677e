// Describes the differences between two versions of a schema item, in groups of lines. Within a group, additions come
// first, then removals, then changes. All parts of a new item are additions, and all parts of a deleted item are
// removals.

import { step, stepsPerDefinition } from '../../../../base/effort.ts'
import { type IndexPart, isEmptyPart, printPart, printPaths } from '../index-parts.ts'
import type { AnnotationPlace, PredicatePlace } from '../outline.ts'
import { type Member as AnyMember, hasNoEffect, ItemPrinter, memberKey } from '../print.ts'
import { printString } from '../print-expression.ts'
import {
  type ActionMember,
  type CollectionItem,
  type CollectionMember,
  type FunctionItem,
  type IndexMember,
  type MigrationStatement,
  type OfKind,
  ofKind,
  type ProviderItem,
  type ProviderMember,
  type RoleItem,
  type RoleMember,
  type SchemaItem,
  withoutParentheses,
} from '../schema-items.ts'
import { type DiffLine, indentLine, markedLine } from './drawing.ts'
import { isSameTree } from './same-tree.ts'

interface DiffGroup {
  /** Undefined if the group has no title. */
  readonly title: string | undefined
  readonly lines: readonly DiffLine[]
}

export interface ItemDiff {
  /** True if the versions have different meanings, even if no line describes the difference. */
  readonly isDifferent: boolean
  readonly groups: readonly DiffGroup[]
}

/** `before` is undefined for a new item, and `after` for a deleted item. */
export interface ItemPair<T extends SchemaItem = SchemaItem> {
  readonly before: T | undefined
  readonly after: T | undefined
}

/** Creates the lines about members of one kind. */
interface Wording<T> {
  readonly added: (member: T) => readonly DiffLine[]
  readonly removed: (member: T) => readonly DiffLine[]
  readonly changed: (pair: Pair<T>) => readonly DiffLine[]
}

/** `fieldLines` describe the effects of the item's migrations on existing documents. Undefined if nothing changes. */
export function diffOfItem(pair: ItemPair, fieldLines: readonly DiffLine[] | undefined): ItemDiff {
  step(stepsPerDefinition)
  const found = new Findings()
  if (fieldLines !== undefined) found.titled('Defined fields', fieldLines)
  const { after, before } = pair
  if (after !== undefined && before !== undefined) found.note(!isPrintedEqual(before, after))
  const item = after ?? before
  if (item?.kind === 'collection') compareCollections(pair as ItemPair<CollectionItem>, found)
  else if (item?.kind === 'function') compareFunctions(pair as ItemPair<FunctionItem>, found)
  else if (item?.kind === 'role') {
    compareMembers<RoleMember>(pair as ItemPair<RoleItem>, ['privileges', 'membership'], roleWording, found)
  } else {
    const kinds = ['issuer', 'jwks_uri', 'role'] as const
    compareMembers<ProviderMember>(pair as ItemPair<ProviderItem>, kinds, providerWording, found)
  }
  return found
}

/**
 * Compares printed code, ignoring the order of members. If the prints differ, the stored definition must change even if
 * the syntax trees are equal, for example `1.0` and `1.00`. Otherwise, the files would be updated to the old text.
 */
function isPrintedEqual(before: SchemaItem, after: SchemaItem): boolean {
  const [one, other] = [printedParts(before), printedParts(after)]
  return one.size === other.size && [...one].every(([key, text]) => other.get(key) === text)
}

/** These members contain no code. Equal parts of these kinds can have different spellings. */
const withoutCode: ReadonlySet<AnyMember['kind']> = new Set(['wildcard', 'index', 'unique'])

function printedParts(item: SchemaItem): ReadonlyMap<string, string> {
  const printer = new ItemPrinter(item.source.text)
  if (item.kind === 'function') {
    return new Map([
      ['head', printer.head(item)],
      ['body', printer.block(item.body)],
    ])
  }
  const members: readonly AnyMember[] = item.members
  const effective = members.filter(member => !withoutCode.has(member.kind) && !hasNoEffect(member))
  return new Map(effective.map(member => [memberKey(member), printer.member(member)]))
}

class Findings implements ItemDiff {
  readonly groups: DiffGroup[] = []
  isDifferent = false

  group(title: string | undefined, lines: readonly DiffLine[]): void {
    if (lines.length > 0) this.titled(title, lines)
  }

  /** Adds a group, even if `lines` is empty. */
  titled(title: string | undefined, lines: readonly DiffLine[]): void {
    this.isDifferent = true
    this.groups.push({ title, lines })
  }

  /** If `isDifferent` is true, records a difference that no line describes. */
  note(isDifferent: boolean): void {
    if (isDifferent) this.isDifferent = true
  }
}

function linesOf<T>({ added, kept, removed }: Matching<T>, wording: Wording<T>): readonly DiffLine[] {
  return [
    ...added.flatMap(wording.added),
    ...removed.flatMap(wording.removed),
    ...kept.flatMap(wording.changed),
  ]
}

/** Creates a wording with the lines `add …` and `remove …`. `what` describes a member in these lines. */
function namedWording<T>(what: (member: T) => string, changed: Wording<T>['changed']): Wording<T> {
  return {
    added: member => [markedLine('added', `add ${what(member)}`)],
    removed: member => [markedLine('removed', `remove ${what(member)}`)],
    changed,
  }
}

/** `what` describes a member in `add …` and `remove …`. `how` is the end of the line `change …`. */
function changingWording<T>(
  what: (member: T) => string,
  isChanged: (pair: Pair<T>) => boolean,
  how = '',
): Wording<T> {
  return namedWording(what, pair =>
    isChanged(pair) ? [markedLine('changed', `change ${what(pair.before)}${how}`)] : [],
  )
}

/** The line `title`, followed by the indented `lines`. Empty if `lines` is empty. */
function within(title: string, lines: readonly DiffLine[]): readonly DiffLine[] {
  return lines.length === 0 ? [] : [markedLine('changed', title), ...lines.map(indentLine)]
}

function renameLines({ after, before }: ItemPair): readonly DiffLine[] {
  if (before === undefined || after === undefined || before.name.text === after.name.text) return []
  return [markedLine('changed', `rename to \`${after.name.text}\``)]
}

const annotationWording = changingWording<AnnotationPlace>(
  ({ kind, name }) => `${kind} set to ${name.text}`,
  ({ before, after }) => before.name.text !== after.name.text,
)

function annotationLines({ after, before }: ItemPair): readonly DiffLine[] {
  const inOrder = (item: SchemaItem | undefined) =>
    [...(item?.annotations ?? [])].sort((left, right) => (left.kind < right.kind ? -1 : 1))
  return linesOf(
    matchByKey(inOrder(before), inOrder(after), ({ kind }) => kind),
    annotationWording,
  )
}

// ------------------------------------------------------------------------------------------ collections

function compareCollections({ after, before }: ItemPair<CollectionItem>, found: Findings): void {
  const members = <K extends CollectionMember['kind']>(kind: K) =>
    [before, after].map(item => membersOf(item, kind)) as [Member<K>[], Member<K>[]]
  const [fieldsBefore, fieldsAfter] = members('field')
  const fields = matchByKey(fieldsBefore, fieldsAfter, memberKey)
  found.note(fields.added.length > 0 || fields.removed.length > 0)
  for (const pair of fields.kept) {
    found.note(!isSameTree(pair.before.type, pair.after.type))
    found.note(!isSameTree(pair.before.defaultValue, pair.after.defaultValue))
  }
  found.note(!isSameWildcard(before, after))
  found.note(!isSameTree(statementsOf(before), statementsOf(after)))

  const computed = matchByKey(...members('computed'), memberKey)
  for (const pair of computed.kept) {
    found.note(!isSameTree(pair.before.type, pair.after.type))
  }
  const computedWording = changingWording<Member<'computed'>>(
    ({ name }) => `computed field \`${name.text}\``,
    pair => !isSameTree(withoutParentheses(pair.before.body), withoutParentheses(pair.after.body)),
  )
  found.group('Computed fields', linesOf(computed, computedWording))
  found.group('Indexes', linesOf(matchByKey(...members('index'), memberKey), indexWording))

  const constraints = [before, after].map(item => [...membersOf(item, 'unique'), ...membersOf(item, 'check')])
  const [constraintsBefore = [], constraintsAfter = []] = constraints
  found.group(
    'Constraints',
    linesOf(matchByKey(constraintsBefore, constraintsAfter, memberKey), constraintWording),
  )
  found.group('Configuration', [
    ...renameLines({ before, after }),
    ...annotationLines({ before, after }),
    ...fields.kept
      .filter(isDefaultRemoved)
      .map(({ before: { name } }) =>
        markedLine('removed', `remove default value from field \`.${name.text}\``),
      ),
    ...settingLines(before, after),
  ])
}

type Member<K extends CollectionMember['kind']> = OfKind<CollectionMember, K>

function membersOf<K extends CollectionMember['kind']>(
  item: CollectionItem | undefined,
  kind: K,
): readonly Member<K>[] {
  return ofKind(item?.members ?? [], kind)
}

/** Compares the types of the wildcards (`*: Type`). A collection without fields has an implicit wildcard. */
function isSameWildcard(before: CollectionItem | undefined, after: CollectionItem | undefined): boolean {
  const [was, is] = [before, after].map(item => {
    const [wildcard] = membersOf(item, 'wildcard')
    const hasNone = wildcard === undefined && membersOf(item, 'field').length > 0
    return hasNone ? undefined : (wildcard?.type ?? anything)
  })
  return isSameTree(was, is)
}

/** The type of an implicit wildcard. */
const anything = { kind: 'name', name: 'Any', arguments: [] } as const

function statementsOf(item: CollectionItem | undefined): readonly MigrationStatement[] {
  const [block] = membersOf(item, 'migrations')
  return block?.statements ?? []
}

function isDefaultRemoved({ after, before }: Pair<Member<'field'>>): boolean {
  return before.defaultValue !== undefined && after.defaultValue === undefined
}

const indexWording = namedWording<IndexMember>(
  ({ name }) => `index \`${name.text}\``,
  ({ after, before }) => {
    const given = ({ members }: IndexMember) => members.filter(each => !isEmptyPart(each))
    const parts = linesOf(matchByKey(given(before), given(after), memberKey), partWording)
    return within(`change index \`${before.name.text}\``, parts)
  },
)

const partWording = namedWording<IndexPart>(
  part => `${part.kind} set to ${printPart(part)}`,
  ({ after, before }) => valueLines(before.kind, printPart(before), printPart(after)),
)

function valueLines(what: string, was: string, is: string): readonly DiffLine[] {
  return was === is ? [] : [markedLine('changed', `change ${what} from ${was} to ${is}`)]
}

type Constraint = Member<'unique' | 'check'>

const constraintWording = changingWording<Constraint>(
  constraint =>
    constraint.kind === 'check'
      ? `check constraint \`${constraint.name.text}\``
      : `unique constraint on ${printPaths(constraint.paths)}`,
  ({ after, before }) =>
    before.kind === 'check' && after.kind === 'check' && !isSameTree(before.body, after.body),
  ' body',
)

type Setting = Member<'history_days' | 'ttl_days' | 'document_ttls'>

const settingWording = namedWording<Setting>(
  ({ kind, value }) => `${kind} set to ${value}`,
  ({ after, before }) => valueLines(before.kind, `${before.value}`, `${after.value}`),
)

function settingLines(
  before: CollectionItem | undefined,
  after: CollectionItem | undefined,
): readonly DiffLine[] {
  const kinds = ['history_days', 'ttl_days', 'document_ttls'] as const
  const settings = (item: CollectionItem | undefined): readonly Setting[] =>
    kinds.flatMap(kind => membersOf<Setting['kind']>(item, kind))
  const { added, kept, removed } = matchByKey(settings(before), settings(after), memberKey)
  // A setting with its default value, such as `history_days 0`, means the same as no setting.
  const hasEffect = (setting: Setting) => !hasNoEffect(setting)
  return linesOf({ added: added.filter(hasEffect), removed: removed.filter(hasEffect), kept }, settingWording)
}

// -------------------------------------------------------------------- functions, roles, access providers

function compareFunctions({ after, before }: ItemPair<FunctionItem>, found: Findings): void {
  const lines = [...renameLines({ before, after }), ...annotationLines({ before, after })]
  if (before !== undefined && after !== undefined) {
    if (!isSameTree(signatureOf(before), signatureOf(after)))
      lines.push(markedLine('changed', 'change signature'))
    if (!isSameTree(before.body, after.body)) lines.push(markedLine('changed', 'change body'))
  }
  found.group(undefined, lines)
}

function signatureOf({ parameters, result }: FunctionItem) {
  return [parameters.map(({ isRest, name, type }) => [isRest, name.text, type]), result]
}

/** `kinds` gives the order of the lines. */
function compareMembers<T extends RoleMember | ProviderMember>(
  { after, before }: ItemPair<SchemaItem & { readonly members: readonly T[] }>,
  kinds: readonly T['kind'][],
  wording: Wording<T>,
  found: Findings,
): void {
  const members = (item: { readonly members: readonly T[] } | undefined) =>
    kinds.flatMap(kind => (item?.members ?? []).filter(each => each.kind === kind))
  found.group(undefined, [
    ...renameLines({ before, after }),
    ...linesOf(matchByKey(members(before), members(after), memberKey), wording),
  ])
}

const roleWording = namedWording<RoleMember>(
  ({ kind, name }) => `${kind} on \`${name.text}\``,
  ({ after, before }) => {
    if (before.kind === 'membership' && after.kind === 'membership') {
      return predicateLines(`membership on \`${before.name.text}\``, { before, after })
    }
    if (before.kind !== 'privileges' || after.kind !== 'privileges') return []
    const actions = linesOf(matchByKey(before.actions, after.actions, memberKey), actionWording)
    return within(`change privileges on \`${before.name.text}\``, actions)
  },
)

const actionWording = namedWording<ActionMember>(
  ({ name }) => name.text,
  pair => predicateLines(pair.before.name.text, pair),
)

interface WithPredicate {
  readonly predicate: PredicatePlace | undefined
}

function predicateLines(what: string, { after, before }: Pair<WithPredicate>): readonly DiffLine[] {
  const [was, is] = [before.predicate?.lambda, after.predicate?.lambda]
  if (isSameTree(was, is)) return []
  const how =
    was === undefined
      ? 'adding a predicate'
      : is === undefined
        ? 'removing a predicate'
        : 'modifying its predicate'
  return [markedLine('changed', `change ${what} by ${how}`)]
}

const providerWording: Wording<ProviderMember> = {
  added: member => (member.kind === 'role' ? [markedLine('added', `add role \`${member.name.text}\``)] : []),
  removed: member =>
    member.kind === 'role' ? [markedLine('removed', `remove role \`${member.name.text}\``)] : [],
  changed: ({ after, before }) => {
    if (before.kind === 'role' && after.kind === 'role') {
      return predicateLines(`role \`${before.name.text}\``, { before, after })
    }
    if (before.kind === 'role' || after.kind === 'role') return []
    return valueLines(before.kind, printString(before.value), printString(after.value))
  },
}

/** Elements of the old and the new list with the same key. */
interface Pair<T> {
  readonly before: T
  readonly after: T
}

/** `added` has the order of the new list. `removed` and `kept` have the order of the old list. */
interface Matching<T> {
  readonly added: readonly T[]
  readonly removed: readonly T[]
  readonly kept: readonly Pair<T>[]
}

/** The key must be unique within each list. */
export function matchByKey<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (item: T) => string,
): Matching<T> {
  const found = new Map(after.map(item => [keyOf(item), item]))
  const old = new Set(before.map(keyOf))
  const kept: Pair<T>[] = []
  const removed: T[] = []
  for (const item of before) {
    const next = found.get(keyOf(item))
    if (next === undefined) removed.push(item)
    else kept.push({ before: item, after: next })
  }
  return { added: after.filter(item => !old.has(keyOf(item))), removed, kept }
}
