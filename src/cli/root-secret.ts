// Which root secret counts: the configured one, else one that the first start makes. It is shown in a file of the data
// directory; several machines that share a store keep its hash there, so that it is one for all of them.

import { rmSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from '../app/config/settings.ts'
import { withRecord } from '../app/open-store.ts'
import { systemRandom } from '../base/random.ts'
import { nativeBcrypt } from '../model/auth/bcrypt.ts'
import { claimRootHash, readRootHash } from '../storage/kv/postgres/tables.ts'
import { storedRootSecret } from './secret-file.ts'

type RootSecretConfig = Pick<Config, 'data' | 'rootSecret' | 'store' | 'storeSchema'>

/** bcrypt cost of the shared hash. The secret is random, so guessing is hopeless at any cost. */
const hashCost = 10

/** The root secret, or its bcrypt hash, that a process of the service takes. The store has been prepared. */
export async function rootSecretOf(config: RootSecretConfig, log: Logger): Promise<string> {
  if (config.rootSecret !== undefined) return config.rootSecret
  const { store, storeSchema } = config
  if (store === undefined) return secretOfFolder(config.data, log)
  return withRecord({ store, storeSchema }, async session => {
    const shared = await readRootHash(session)
    if (shared !== undefined) return shared
    const made = storedRootSecret(config.data, systemRandom)
    const hash = await nativeBcrypt.hash(Buffer.from(made.secret), hashCost)
    const counting = await claimRootHash(session, hash)
    if (counting === hash) {
      log.info({ file: made.file }, `made a root secret for all nodes: it is in ${made.file}`)
    } else if (made.created) rmSync(made.file)
    return counting
  })
}

function secretOfFolder(folder: string, log: Logger): string {
  const { secret, file, created } = storedRootSecret(folder, systemRandom)
  log.info({ file }, created ? `made a root secret: it is in ${file}` : `the root secret is in ${file}`)
  return secret
}
