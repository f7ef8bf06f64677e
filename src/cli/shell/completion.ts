// Proposals for the Tab key: functions, the database's objects (in version 4, their names in quotes), and the shell's
// own commands.

import { upsert } from '../../base/upsert.ts'
import { fqlFunctions } from '../../fql4/text/index.ts'
import { object } from '../../transfer/query-json.ts'
import { memberOf } from '../../transfer/references.ts'
import type { Json } from '../../values/value.ts'
import type { QueryConnection } from '../client/connection.ts'
import type { LanguageVersion } from '../client/shell-language.ts'
import { escapeHidden } from '../terminal.ts'

/** Functions whose first argument names an object, each with the function that lists these objects. */
const listings: Readonly<Record<string, string>> = {
  AccessProvider: 'access_providers',
  Call: 'functions',
  Class: 'collections',
  Collection: 'collections',
  Database: 'databases',
  Function: 'functions',
  Index: 'indexes',
  Match: 'indexes',
  Role: 'roles',
}

/** Maximum number of names fetched for one listing. */
const namesMax = 10_000

/** Fetches names on demand and caches them until {@link forget}. */
export class ObjectNames {
  readonly #names = new Map<string, Promise<readonly string[]>>()

  /** Called when objects may have changed, and when another database is used. */
  forget(): void {
    this.#names.clear()
  }

  /** `listing`: such as `collections`. The result is empty when the caller may not read the objects. */
  of(listing: string, connection: QueryConnection): Promise<readonly string[]> {
    return upsert(this.#names, listing, () => fetchNames(listing, connection).catch(() => []))
  }
}

async function fetchNames(listing: string, connection: QueryConnection): Promise<readonly string[]> {
  const query = object({ paginate: object({ [listing]: null }), size: BigInt(namesMax) })
  const reply = await connection.query(query)
  const data = reply.kind === 'resource' ? memberOf(reply.resource, 'data') : undefined
  if (!Array.isArray(data)) return []
  return data.flatMap((ref: Json) => {
    const id = memberOf(ref, '@ref', 'id')
    // Readline shows and inserts proposals as they are, so names with hidden characters are omitted.
    return typeof id === 'string' && id === escapeHidden(id) ? [id] : []
  })
}

/** The chosen proposal replaces the last part of the line. */
type Proposals = readonly [proposals: readonly string[], replaced: string]

/** `line` ends at the cursor. */
export async function completionsOf(
  line: string,
  commands: readonly string[],
  names: ObjectNames,
  connection: QueryConnection,
  version: LanguageVersion,
): Promise<Proposals> {
  if (line.startsWith('.')) return [commands.filter(name => name.startsWith(line)), line]
  if (version === '10') return propose10(line, names, connection)
  const quoted = /(\w+)\(\s*(["'`])([^"'`]*)$/.exec(line)
  if (quoted) {
    const [, called = '', quote = '', begun = ''] = quoted
    const listing = Object.hasOwn(listings, called) ? listings[called] : undefined
    const found = listing === undefined ? [] : await names.of(listing, connection)
    return [found.filter(name => name.startsWith(begun)).map(name => name + quote), begun]
  }
  const begun = /\w*$/.exec(line)?.[0] ?? ''
  // Strings have no proposals.
  const isInString = (line.match(/(?<!\\)["'`]/g) ?? []).length % 2 === 1
  if (begun === '' || isInString) return [[], begun]
  const found = fqlFunctions.filter(({ name }) => name.startsWith(begun))
  return [found.map(({ name, signature }) => (signature.endsWith('()') ? `${name}()` : `${name}(`)), begun]
}

/** Proposes names of the standard library, of collections and of functions, and after a dot names of members. */
async function propose10(line: string, names: ObjectNames, connection: QueryConnection): Promise<Proposals> {
  const [, dot = '', begun = ''] = /(\.?)(\w*)$/.exec(line) ?? []
  if (dot === '' && begun === '') return [[], begun]
  const { allTables, globals } = await import('../../fql10/library/tables.ts')
  if (dot !== '') {
    const members = new Set(allTables.flatMap(({ entries }) => [...entries.keys()]))
    return [[...members].filter(name => name.startsWith(begun)).sort(), begun]
  }
  const objects = [
    ...(await names.of('collections', connection)),
    ...(await names.of('functions', connection)),
  ]
  return [[...globals.keys(), ...objects].filter(name => name.startsWith(begun)).sort(), begun]
}
