// Who is signed in. The secret lives in memory and in the tab's session storage, so that a reload keeps it and a closed
// tab forgets it; it is sent to the service that the page came from and to other tabs of it, and nowhere else.

import { batch, computed, signal } from '@preact/signals'
import { databaseParameter, databasePath, hasUnsaved, home } from './router.ts'
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
const signedOutKey = 'terrarium-signed-out'

export const session = signal<Session | undefined>(undefined)

/** What to say on the sign-in page, for a person who was sent there. */
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

/**
 * Signs in. Throws {@link ServiceError} with status 401 when the secret is refused. Where input is waiting for this, a
 * secret of another database would have no place for it: then the person is asked, and an error is thrown if they stay.
 */
export async function signIn(secret: string): Promise<void> {
  if (/[^\x21-\x7e]/.test(secret))
    throw new ServiceError(401, 'A secret has no blanks and no letters beyond ASCII.')
  const principal = await callApi<Principal>('GET', '/api/v1/principal', { secret })
  const isElsewhere = principal.database.join('/') !== session.value?.principal.database.join('/')
  if (expired.value !== undefined && isElsewhere) {
    if (!confirm('This secret is of another database. What you have not saved is lost with it. Go on?'))
      throw new Error('Sign in with a secret of the same database as before.')
    signOut()
  }
  batch(() => {
    farewell.value = undefined
    expired.value = undefined
    unreachable.value = undefined
    home.value = principal.database
    session.value = { secret, principal }
  })
  remember(secret)
}

/** What pages remember while others are looked at. */
interface Remembered {
  readonly forget: () => void
  /** Whether it is something that a person has entered and that is nowhere else. */
  readonly isUnsaved: () => boolean
}

const remembered = new Set<Remembered>()

/**
 * Has something forgotten when somebody signs out: what a page remembers is not the next person's business. With
 * `isUnsaved`, signing out asks first while that gives true.
 */
export function forgetOnSignOut(forget: () => void, isUnsaved = () => false): void {
  remembered.add({ forget, isUnsaved })
}

/** Whether signing out would lose input: of the page that is shown, or what other pages remember. */
export function losesBySigningOut(): boolean {
  return hasUnsaved() || [...remembered].some(({ isUnsaved }) => isUnsaved())
}

/** Forgets the secret. */
export function signOut(message?: string): void {
  batch(() => {
    farewell.value = message
    expired.value = undefined
    session.value = undefined
  })
  for (const { forget } of remembered) forget()
  remember(undefined)
}

/** Why the secret is not accepted any more while a page holds input: the page waits, out of sight, for another sign-in. */
export const expired = signal<string | undefined>(undefined)

/** The database that the service has refused to look into, as {@link databaseParameter} names it. */
export const unreachable = signal<string | undefined>(undefined)

const refusal = 'The secret is not accepted any more: it has expired or was revoked. Sign in again.'

/**
 * A request was refused for its secret. Either the secret has ended, which ends the session; or, where it was narrowed
 * to a database below, that database is not there.
 */
export async function secretRefused(): Promise<void> {
  const now = session.value
  const database = databaseParameter(databasePath.value)
  if (now && databasePath.value.length > 0) {
    const isRefused = await callApi('GET', '/api/v1/principal', { secret: now.secret }).then(
      () => false,
      cause => cause instanceof ServiceError && cause.status === 401,
    )
    if (!isRefused) {
      unreachable.value = database
      return
    }
  }
  if (session.value === now) endOrWait(refusal)
}

/** Ends the session, for a reason; a page with input that is not saved waits for another sign-in. */
export function endOrWait(reason: string): void {
  if (losesBySigningOut()) {
    remember(undefined)
    batch(() => {
      expired.value = reason
      // The page goes on without the secret: what it asks meanwhile is refused.
      if (session.value) session.value = { ...session.value, secret: '' }
    })
  } else signOut(reason)
}

/** Whether this tab was signed out of: it is not signed in by other tabs then. */
export function hasSignedOut(): boolean {
  try {
    return sessionStorage.getItem(signedOutKey) !== null
  } catch {
    return false
  }
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
    if (secret === undefined) {
      sessionStorage.removeItem(storageKey)
      sessionStorage.setItem(signedOutKey, 'yes')
    } else {
      sessionStorage.setItem(storageKey, secret)
      sessionStorage.removeItem(signedOutKey)
    }
  } catch {
    // Nothing is lost but the convenience.
  }
}
