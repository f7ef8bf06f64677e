// Renames schema objects. Definitions in version 10 contain names, which a rename must update. Definitions in version 4
// contain references, which do not change.

import { isArray, isObject, itemsOf, native, type ObjectValue, Ref, type Value } from '../../values/value.ts'
import { applyWrite } from '../failure.ts'
import type { Session } from '../session.ts'
import type { Draft } from './resource.ts'

type Rewrite = (text: Value) => Value

/** Updates the roles that contain the old name or alias of a renamed collection or function. */
export function renameResource(draft: Draft): void {
  for (const field of ['name', 'alias']) {
    const rewrite = renaming(draft, field)
    if (rewrite === undefined) continue
    rewriteAll(native.roles, draft.session, fields => {
      for (const part of ['privileges', 'membership']) {
        rewriteField(fields, part, item => withField(item, 'resource', rewrite))
      }
    })
  }
}

/** Updates the functions, keys and access providers that contain the old name of a renamed role. */
export function renameRole(draft: Draft): void {
  const rewrite = renaming(draft, 'name')
  if (rewrite === undefined) return
  const { session } = draft
  rewriteAll(native.functions, session, fields => rewriteField(fields, 'role', rewrite))
  rewriteAll(native.keys, session, fields => {
    // A key for a child database contains the name of a role of the child database.
    if (!fields.has('database')) rewriteField(fields, 'role', rewrite)
  })
  rewriteAll(native.access_providers, session, fields =>
    rewriteField(fields, 'roles', item =>
      isObject(item) ? withField(item, 'role', rewrite) : rewrite(item),
    ),
  )
}

/** The functions and keys with the role `name`. The label is the name of the function or the id of the key. */
export function usersOfRole(
  name: string,
  { database, transaction }: Session,
): readonly { readonly kind: 'function' | 'key'; readonly label: string }[] {
  const usersIn = (collection: number, kind: 'function' | 'key') =>
    Array.from(transaction.documents(database, collection, {})).flatMap(({ document }) => {
      const fields = transaction.get(document)?.fields
      if (fields === undefined || (kind === 'key' && fields.has('database'))) return []
      const isUser = itemsOf(fields.get('role')).some(
        role => role === name || (role instanceof Ref && transaction.catalogue.nameOf(role) === name),
      )
      const title = fields.get('name')
      return isUser
        ? [{ kind, label: typeof title === 'string' && kind === 'function' ? title : `${document.id}` }]
        : []
    })
  return [...usersIn(native.functions, 'function'), ...usersIn(native.keys, 'key')]
}

function renaming({ fields, previous }: Draft, field: string): Rewrite | undefined {
  const [before, after] = [previous?.fields.get(field), fields.get(field)]
  if (typeof before !== 'string' || typeof after !== 'string' || before === after) return undefined
  return text => (text === before ? after : text)
}

/** Applies `change` to the fields of all documents of a native collection. Does not check permissions. */
function rewriteAll(
  collection: number,
  { database, transaction }: Session,
  change: (fields: Map<string, Value>) => void,
): void {
  for (const { document } of Array.from(transaction.documents(database, collection, {}))) {
    const before = transaction.get(document)?.fields
    if (before === undefined) continue
    const fields = new Map(before)
    change(fields)
    const isChanged = [...fields].some(([name, value]) => value !== before.get(name))
    if (isChanged) applyWrite(() => transaction.put(document, fields), 'call')
  }
}

function rewriteField(fields: Map<string, Value>, name: string, rewrite: Rewrite): void {
  const value = fields.get(name)
  if (value === undefined) return
  if (!isArray(value)) fields.set(name, rewrite(value))
  else {
    const items = value.map(rewrite)
    if (items.some((item, index) => item !== value[index])) fields.set(name, items)
  }
}

function withField(item: Value, name: string, rewrite: Rewrite): Value {
  if (!isObject(item)) return item
  const value: Value | undefined = (item as ObjectValue).get(name)
  const rewritten = value === undefined ? undefined : rewrite(value)
  return rewritten === undefined || rewritten === value ? item : new Map([...item, [name, rewritten]])
}
