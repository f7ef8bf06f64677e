// Describes the differences between two versions of a schema item, in groups of lines. All parts of a new item are
// additions, and all parts of a deleted item are removals.

import { step, stepsPerDefinition } from '../../../../base/effort.ts'
import { type Member as AnyMember, hasNoEffect, ItemPrinter, memberKey } from '../print.ts'
import { printString } from '../print-expression.ts'
import type {
  ActionMember,
  CollectionItem,
  FunctionItem,
  ProviderItem,
  ProviderMember,
  RoleItem,
  RoleMember,
  SchemaItem,
} from '../schema-items.ts'
import { compareCollections } from './collection-diff.ts'
import { type DiffLine, markedLine } from './drawing.ts'
import { Findings, type ItemPair } from './item-comparison.ts'
import { matchByKey, type Pair } from './matching.ts'
import { isSameTree } from './same-tree.ts'
import {
  annotationLines,
  linesOf,
  namedWording,
  renameLines,
  valueLines,
  type Wording,
  within,
} from './wording.ts'

/**
 * `fieldLines` describe the effects of the item's migrations on existing documents. Undefined without migrations; can
 * be empty, because some steps have no line.
 */
export function diffOfItem(pair: ItemPair, fieldLines: readonly DiffLine[] | undefined): Findings {
  step(stepsPerDefinition)
  const found = new Findings()
  if (fieldLines !== undefined) found.add('Defined fields', fieldLines)
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

function compareFunctions({ after, before }: ItemPair<FunctionItem>, found: Findings): void {
  const lines = [...renameLines({ before, after }), ...annotationLines({ before, after })]
  if (before !== undefined && after !== undefined) {
    if (!isSameTree(signatureOf(before), signatureOf(after)))
      lines.push(markedLine('changed', 'change signature'))
    if (!isSameTree(before.body, after.body)) lines.push(markedLine('changed', 'change body'))
  }
  found.addUnlessEmpty(undefined, lines)
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
  found.addUnlessEmpty(undefined, [
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

function predicateLines(
  what: string,
  { after, before }: Pair<Pick<ActionMember, 'predicate'>>,
): readonly DiffLine[] {
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
