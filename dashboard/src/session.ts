// Who is signed in. The secret lives in memory and in the tab's session storage, so that a reload keeps it and a closed
// tab forgets it; it is sent to the service that the page came from and nowhere else.

import { computed, signal } from '@preact/signals'
import { databasePath } from './router.ts'
import { callApi, type Scope } from './service/client.ts'
import { ServiceError } from './service/faults.ts'

/** What the service says of a secret. */
interface Principal {
  /** Names of its database and of those around it, outermost first. */
  readonly database: readonly string[]
  /** The builtin role; null for who has roles of the database, or logged in. */
  readonly role: 'admin' | 'server' | 'server-readonly' | 'client' | null
  readonly is_root: boolean
  readonly identity: { readonly collection: string; readonly id: string } | string | null
  readonly region_group: string | null
}

interface Session {
  readonly secret: string
  readonly principal: Principal
}

const storageKey = 'terrarium-secret'

export const session = signal<Session | undefined>(undefined)

/** What to say on the sign-in page, when somebody was sent there. */
export const farewell = signal<string | undefined>(undefined)

/** Whether databases below the secret's own can be looked into: the secret can be narrowed to them. */
export const canScope = computed(() => {
  const now = session.value
  return now?.principal.role === 'admin' && !now.secret.includes(':')
})

/** Where requests of the present page run: in the database that its address names. */
export const scope = computed<Scope>(() => {
  const secret = session.value?.secret ?? ''
  const path = databasePath.value
  return { secret: path.length === 0 ? secret : `${secret}:${path.join('/')}:admin` }
})

/** What forms offer; the service decides in the end. */
export const rights = computed(() => {
  const role = session.value?.principal.role
  return {
    /** May change documents, collections, indexes and functions. */
    writes: role !== 'server-readonly' && role !== 'client',
    /** May import files: the service takes batches of documents from admins alone. */
    imports: role === 'admin',
    /** May change databases, keys, roles and access providers. */
    administers: role === 'admin' || role === null,
  }
})

/** The scope of the present database with other rights: a role, a key's role or a document. */
export function scopeAs(suffix: string): Scope {
  const secret = session.value?.secret ?? ''
  const path = databasePath.value
  return { secret: `${secret}:${path.length === 0 ? '' : `${path.join('/')}:`}${suffix}` }
}

/** Signs in. Throws {@link ServiceError} with status 401 when the secret is refused. */
export async function signIn(secret: string): Promise<void> {
  if (/[^\x21-\x7e]/.test(secret))
    throw new ServiceError(401, 'A secret has no blanks and no letters beyond ASCII.')
  const principal = await callApi<Principal>('GET', '/api/v1/principal', { secret })
  farewell.value = undefined
  session.value = { secret, principal }
  remember(secret)
}

const onSignOut = new Set<() => void>()

/** Has something called when somebody signs out: what a page remembers is not the next person's business. */
export function forgetOnSignOut(forget: () => void): void {
  onSignOut.add(forget)
}

/** Forgets the secret. */
export function signOut(message?: string): void {
  farewell.value = message
  session.value = undefined
  for (const forget of onSignOut) forget()
  remember(undefined)
}

/** The secret that a reload has left; undefined when there is none. */
export function rememberedSecret(): string | undefined {
  try {
    return sessionStorage.getItem(storageKey) ?? undefined
  } catch {
    return undefined
  }
}

/** A browser may refuse storage; then the secret lives until the page is reloaded. */
function remember(secret: string | undefined): void {
  try {
    if (secret === undefined) sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, secret)
  } catch {
    // Nothing is lost but the convenience.
  }
}
