// Manages the child databases and the keys of the secret's database: `terrarium database create|list|delete` and
// `terrarium key create|list|delete`. Each action resolves with the exit status.

import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import { object } from '../../transfer/query-json.ts'
import { memberOf } from '../../transfer/references.ts'
import type { Json } from '../../values/value.ts'
import { withConnection } from '../client/connect.ts'
import type { QueryConnection } from '../client/connection.ts'
import type { ClientChoice } from '../client/options.ts'
import { CommandError } from '../command.ts'
import { escapeHidden, isConfirmed, listText, printLine } from '../terminal.ts'

export function createDatabase(name: string, choice: ClientChoice, config: Config): Promise<number> {
  return administer(choice, config, async connection => {
    // Unlike `create_database` of version 4, this query creates a database that checks types by default.
    const text = JSON.stringify(name)
    const create = `if (Database.byName(${text}) == null) Database.create({ name: ${text} }) { name }`
    const { data, error, summary } = await connection.ownQuery(create)
    if (error) throw new CommandError(summary || error.message)
    if (data === 'null') throw new CommandError(`the database ${escapeHidden(name)} already exists`)
    printLine(`created ${name}`)
  })
}

export function listDatabases(
  choice: ClientChoice & { readonly json: boolean },
  config: Config,
): Promise<number> {
  return administer(choice, config, async connection => {
    const rows: Readonly<Record<string, string>>[] = []
    const fields = { name: ['name'], global_id: ['global_id'] }
    for await (const found of listOf(object({ databases: null }), fields, connection)) {
      rows.push({ name: String(found.get('name')), global_id: String(found.get('global_id') ?? '') })
    }
    process.stdout.write(listText(['name', 'global_id'], rows, choice.json))
  })
}

/** Deletes a database with all its content, after confirmation. The exit status is 1 if the user declines. */
export function deleteDatabase(
  name: string,
  choice: ClientChoice & { readonly yes: boolean },
  config: Config,
): Promise<number> {
  return withConnection(choice, config, async connection => {
    await connection.check()
    const database = object({ database: name })
    if ((await run(object({ exists: database }), connection)) === false)
      throw new CommandError(`there is no database ${escapeHidden(name)}`)
    const question = `Delete the database ${escapeHidden(name)} with all documents and databases in it?`
    if (!(await isConfirmed(choice, question))) return 1
    await run(object({ delete: database }), connection)
    printLine(`deleted ${name}`)
    return 0
  })
}

/** Connects and checks the credential before `use`; resolves with the exit status 0. */
function administer(
  choice: ClientChoice,
  config: Config,
  use: (connection: QueryConnection) => Promise<void>,
): Promise<number> {
  return withConnection(choice, config, async connection => {
    await connection.check()
    await use(connection)
    return 0
  })
}

const builtinRoles: ReadonlySet<string> = new Set(['admin', 'server', 'server-readonly', 'client'])

interface KeyRequest extends ClientChoice {
  readonly role: string | undefined
  readonly name: string | undefined
  readonly json: boolean
}

/** Prints the secret of the new key. */
export function createKey(choice: KeyRequest, config: Config): Promise<number> {
  const { json, name, role } = choice
  if (role === undefined) throw new UsageError('key create needs --role')
  return administer(choice, config, async connection => {
    const fields = {
      role: builtinRoles.has(role) ? role : object({ role }),
      data: name === undefined ? undefined : object({ object: object({ name }) }),
    }
    const key = await run(object({ create_key: object({ object: object(fields) }) }), connection)
    const id = textOrId(memberOf(key, 'ref')) ?? ''
    const secret = String(memberOf(key, 'secret'))
    if (json) {
      process.stdout.write(`${JSON.stringify({ id, role, name: name ?? '', secret })}\n`)
      return
    }
    process.stderr.write(`${escapeHidden(id)}  ${escapeHidden(role)}\nThe secret is shown only now:\n`)
    printLine(secret)
  })
}

export function listKeys(choice: ClientChoice & { readonly json: boolean }, config: Config): Promise<number> {
  return administer(choice, config, async connection => {
    const rows: Readonly<Record<'id' | 'role' | 'database' | 'name', string>>[] = []
    const fields = {
      ref: ['ref'],
      role: ['role'],
      database: ['database'],
      name: ['name'],
      label: ['data', 'name'],
    }
    for await (const found of listOf(object({ keys: null }), fields, connection)) {
      rows.push({
        id: textOrId(found.get('ref')) ?? '',
        role: namesIn(found.get('role')),
        database: textOrId(found.get('database')) ?? '',
        name: textOrId(found.get('label')) ?? textOrId(found.get('name')) ?? '',
      })
    }
    process.stdout.write(listText(['id', 'role', 'database', 'name'], rows, choice.json))
  })
}

/** The key's secret becomes invalid immediately. */
export function deleteKey(id: string, choice: ClientChoice, config: Config): Promise<number> {
  if (!/^\d+$/.test(id)) throw new UsageError('the id of a key is a number, as key list shows it')
  return administer(choice, config, async connection => {
    const key = object({ ref: object({ keys: null }), id })
    if ((await run(object({ exists: key }), connection)) === false)
      throw new CommandError(`there is no key ${id}`)
    await run(object({ delete: key }), connection)
    printLine(`deleted ${id}`)
  })
}

function namesIn(role: Json | undefined): string {
  const roles = Array.isArray(role) ? role : [role]
  return roles.map(each => textOrId(each) ?? '').join(', ')
}

const pageSize = 500n

/**
 * Yields an object for each document in a set of a native collection, page by page. `fields`: the members of the
 * object, each with the path of its value in the document. Throws {@link CommandError}.
 */
async function* listOf(
  set: Json,
  fields: Readonly<Record<string, readonly string[]>>,
  connection: QueryConnection,
): AsyncGenerator<ReadonlyMap<string, Json>> {
  const select = ([name, path]: [string, readonly string[]]): [string, Json] => [
    name,
    object({ select: path, from: object({ var: 'document' }), default: null }),
  ]
  const shown = object({ object: object(Object.fromEntries(Object.entries(fields).map(select))) })
  const get = object({ get: object({ var: 'ref' }) })
  const expr = object({ let: [object({ document: get })], in: shown })
  let after: Json | undefined
  let found = 0
  do {
    const page = object({ paginate: set, size: pageSize, after })
    const resource = await run(object({ map: object({ lambda: 'ref', expr }), collection: page }), connection)
    const data = memberOf(resource, 'data')
    for (const each of Array.isArray(data) ? data : []) if (each instanceof Map) yield each
    after = memberOf(resource, 'after')
    // A program at the address that is not Terrarium could return pages without end, also empty ones.
    found += Math.max(1, Array.isArray(data) ? data.length : 0)
    if (found > objectsMax) throw new CommandError(`the service returns more than ${objectsMax} objects`)
  } while (after !== undefined)
}

/** Maximum number of objects of a list. An empty page counts as an object. */
const objectsMax = 1_000_000

/** Throws {@link CommandError} with the first error. */
async function run(query: Json, connection: QueryConnection): Promise<Json> {
  const reply = await connection.query(query)
  if (reply.kind === 'resource') return reply.resource
  const [error] = reply.errors
  const texts = [error?.description, ...(error?.failures.map(({ text }) => text) ?? [])]
  throw new CommandError(escapeHidden(texts.filter(Boolean).join(' ') || 'the service rejected the query'))
}

/** Returns the id of a reference, a string unchanged, and undefined for other values. */
function textOrId(json: Json | undefined): string | undefined {
  if (typeof json === 'string') return json
  const id = memberOf(json, '@ref', 'id')
  return typeof id === 'string' ? id : undefined
}
