// `terrarium database create|list|delete`: child databases of the secret's database.

import type { Config } from '../../app/config/settings.ts'
import { withConnection } from '../client/connect.ts'
import type { ClientChoice } from '../client/options.ts'
import { form, listOf, run } from '../client/schema-list.ts'
import { StartError } from '../command.ts'
import { isConfirmed } from '../question.ts'
import { listText } from '../rows-text.ts'
import { visible } from '../terminal.ts'

/** Creates a database; resolves with the exit status. */
export function createDatabase(name: string, choice: ClientChoice, config: Config): Promise<number> {
  return withConnection(choice, config, async connection => {
    await run(form({ create_database: form({ object: form({ name }) }) }), connection)
    process.stdout.write(`created ${visible(name)}\n`)
  })
}

/** Prints the databases; resolves with the exit status. */
export function listDatabases(
  choice: ClientChoice & { readonly json: boolean },
  config: Config,
): Promise<number> {
  return withConnection(choice, config, async connection => {
    const rows: Readonly<Record<string, string>>[] = []
    const fields = { name: ['name'], global_id: ['global_id'] }
    for await (const found of listOf(form({ databases: null }), fields, connection)) {
      rows.push({ name: String(found.get('name')), global_id: String(found.get('global_id') ?? '') })
    }
    process.stdout.write(listText(['name', 'global_id'], rows, choice.json))
  })
}

/** Deletes a database with all its content, after confirmation; resolves with the exit status. */
export function deleteDatabase(
  name: string,
  choice: ClientChoice & { readonly yes: boolean },
  config: Config,
): Promise<number> {
  return withConnection(choice, config, async connection => {
    const database = form({ database: name })
    if ((await run(form({ exists: database }), connection)) === false)
      throw new StartError(`there is no database ${visible(name)}`)
    const question = `Delete the database ${visible(name)} with all documents and databases in it?`
    if (!(await isConfirmed(choice, question))) return
    await run(form({ delete: database }), connection)
    process.stdout.write(`deleted ${visible(name)}\n`)
  })
}
