// Determines the root secret: the configured one, or one that the first start generates. A generated secret is stored
// in a file of the data directory. Machines with a shared store keep its hash in the store, so that all use the same
// secret.

import { rmSync } from 'node:fs'
import type { Logger } from 'pino'
import type { Config } from '../app/config/settings.ts'
import { withRecord } from '../app/open-store.ts'
import { systemRandom } from '../base/random.ts'
import { nativeBcrypt } from '../model/auth/bcrypt.ts'
import { claimRootHash, readRootHash } from '../storage/kv/postgres/tables.ts'
import { loadRootSecret } from './secret-file.ts'

type RootSecretConfig = Pick<Config, 'data' | 'rootSecret' | 'store' | 'storeSchema'>

/** bcrypt cost of the shared hash. A low cost is enough, because the secret is random. */
const hashCost = 10

/** The root secret of the service, or its bcrypt hash. The store must have been prepared. */
export async function rootSecretOf(config: RootSecretConfig, log: Logger): Promise<string> {
  if (config.rootSecret !== undefined) return config.rootSecret
  const { store, storeSchema } = config
  if (store === undefined) return secretOfFolder(config.data, log)
  return withRecord({ store, storeSchema }, async session => {
    const shared = await readRootHash(session)
    if (shared !== undefined) return shared
    const generated = loadRootSecret(config.data, systemRandom)
    const hash = await nativeBcrypt.hash(Buffer.from(generated.secret), hashCost)
    const claimed = await claimRootHash(session, hash)
    if (claimed === hash) {
      log.info({ file: generated.file }, `generated a root secret for all nodes: it is in ${generated.file}`)
    } else if (generated.created) rmSync(generated.file)
    return claimed
  })
}

function secretOfFolder(folder: string, log: Logger): string {
  const { secret, file, created } = loadRootSecret(folder, systemRandom)
  log.info({ file }, created ? `generated a root secret: it is in ${file}` : `the root secret is in ${file}`)
  return secret
}
