// Pulls the schema of a database into files, pushes files to a database, or checks the stored schema.

import { resolve } from 'node:path'
import type { Config } from '../../app/config/settings.ts'
import { withConnection } from '../client/connect.ts'
import type { QueryConnection } from '../client/connection.ts'
import type { ClientChoice } from '../client/options.ts'
import { writeSyntaxError } from '../client/report.ts'
import { SchemaFileError } from '../schema/folder.ts'
import { withTransferErrors } from '../transfer-errors.ts'
import { type PullChoice, pull } from './schema-pull.ts'
import { type PushChoice, push } from './schema-push.ts'

export function pullSchema(
  folder: string,
  choice: PullChoice & ClientChoice,
  config: Config,
): Promise<number> {
  return withService(choice, config, connection => pull(resolve(folder), connection, choice))
}

export function pushSchema(
  folder: string,
  choice: PushChoice & ClientChoice,
  config: Config,
): Promise<number> {
  return withService(choice, config, connection => push(resolve(folder), connection, choice))
}

/**
 * Checks the code of the stored schema, even if the database is not checked. Throws {@link CommandError} with the errors.
 */
export function checkSchema(choice: ClientChoice, config: Config): Promise<number> {
  return withService(choice, config, async connection => {
    // Without files, the service validates the stored schema.
    await connection.schema('POST', 'validate?override=false', undefined, { 'x-typecheck': 'true' })
    process.stdout.write('no errors\n')
    return 0
  })
}

async function withService(
  choice: ClientChoice,
  config: Config,
  run: (connection: QueryConnection) => Promise<number>,
): Promise<number> {
  try {
    return await withTransferErrors(() => withConnection(choice, config, run))
  } catch (cause) {
    if (!(cause instanceof SchemaFileError)) throw cause
    writeSyntaxError(cause.error, cause.from, process.stderr, cause.title)
    return 2
  }
}
