// `terrarium key create|list|delete`: the keys of a database.

import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import type { Json } from '../../values/value.ts'
import { withConnection } from '../client/connect.ts'
import type { ClientChoice } from '../client/options.ts'
import { form, idIn, listOf, run } from '../client/schema-list.ts'
import { StartError } from '../command.ts'
import { listText } from '../rows-text.ts'
import { visible } from '../terminal.ts'

const builtinRoles: ReadonlySet<string> = new Set(['admin', 'server', 'server-readonly', 'client'])

interface KeyRequest extends ClientChoice {
  readonly role: string | undefined
  readonly name: string | undefined
  readonly json: boolean
}

/** Creates a key and prints its secret; resolves with the exit status. */
export function createKey(choice: KeyRequest, config: Config): Promise<number> {
  const { json, name, role } = choice
  if (role === undefined) throw new UsageError('key create needs --role')
  return withConnection(choice, config, async connection => {
    const fields = {
      role: builtinRoles.has(role) ? role : form({ role }),
      ...(name !== undefined && { data: form({ object: form({ name }) }) }),
    }
    const key = await run(form({ create_key: form({ object: form(fields) }) }), connection)
    const member = (of: string) => (key instanceof Map ? key.get(of) : undefined)
    const id = idIn(member('ref')) ?? ''
    const secret = String(member('secret'))
    if (json) {
      process.stdout.write(`${JSON.stringify({ id, role, name: name ?? '', secret })}\n`)
      return
    }
    process.stderr.write(`${id}  ${visible(role)}\nThe secret is shown only now:\n`)
    process.stdout.write(`${secret}\n`)
  })
}

/** Prints the keys; resolves with the exit status. */
export function listKeys(choice: ClientChoice & { readonly json: boolean }, config: Config): Promise<number> {
  return withConnection(choice, config, async connection => {
    const rows: Readonly<Record<'id' | 'role' | 'database' | 'name', string>>[] = []
    const fields = {
      ref: ['ref'],
      role: ['role'],
      database: ['database'],
      name: ['name'],
      label: ['data', 'name'],
    }
    for await (const found of listOf(form({ keys: null }), fields, connection)) {
      rows.push({
        id: idIn(found.get('ref')) ?? '',
        role: namesIn(found.get('role')),
        database: idIn(found.get('database')) ?? '',
        name: idIn(found.get('label')) ?? idIn(found.get('name')) ?? '',
      })
    }
    process.stdout.write(listText(['id', 'role', 'database', 'name'], rows, choice.json))
  })
}

/** Deletes the key with this id, which makes its secret invalid at once; resolves with the exit status. */
export function deleteKey(id: string, choice: ClientChoice, config: Config): Promise<number> {
  if (!/^\d+$/.test(id)) throw new UsageError('the id of a key is a number, as key list shows it')
  return withConnection(choice, config, async connection => {
    const key = form({ ref: form({ keys: null }), id })
    if ((await run(form({ exists: key }), connection)) === false)
      throw new StartError(`there is no key ${id}`)
    await run(form({ delete: key }), connection)
    process.stdout.write(`deleted ${id}\n`)
  })
}

/** The name of a role, or the names of several roles. */
function namesIn(role: Json | undefined): string {
  const roles = Array.isArray(role) ? role : [role]
  return roles.map(each => idIn(each) ?? '').join(', ')
}
