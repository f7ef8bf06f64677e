// The session: the secret with which the user signed in, and its rights. The secret is in memory and in the tab's
// session storage, so it survives a reload, and closing the tab deletes it. It is sent only to the service that served
// the page, and to other tabs of the dashboard.

import { batch, computed, signal } from '@preact/signals'
import { databaseParameter, databasePath, hasUnsaved, home } from './router.ts'
import { callApi, type RequestSecret } from './service/client.ts'
import { ServiceError } from './service/faults.ts'
import { readStored, store } from './service/storage.ts'

/** The caller that the secret identifies, as the service describes it. */
interface Principal {
  /** Outermost first. */
  readonly database: readonly string[]
  /** Null for user-defined roles and for logged-in users. */
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

/** The message on the sign-in page after the session ended. */
export const signInMessage = signal<string | undefined>(undefined)

/** Requests can limit the secret to a child database or to a role. */
export const canLimitSecret = computed(() => {
  const now = session.value
  return now?.principal.role === 'admin' && !now.secret.includes(':')
})

/** The secret of the session, limited to the database in the address. */
export const currentSecret = computed<RequestSecret>(() => {
  const secret = session.value?.secret ?? ''
  const path = databasePath.value
  return { secret: path.length === 0 ? secret : `${secret}:${path.join('/')}:admin` }
})

/** Pages offer only actions that these rights allow. The service itself checks each request. */
export const rights = computed(() => {
  const role = session.value?.principal.role
  return {
    // A user or a user-defined role (null) may write and administer if a role of the database allows it.
    /** Documents, collections, indexes and functions. */
    writes: role !== 'server-readonly' && role !== 'client',
    /** Reads sizes and positions in collections. */
    measures: role === 'admin' || role === 'server' || role === 'server-readonly',
    /** The service accepts batches of documents only from admins. */
    imports: role === 'admin',
    /** Databases, keys, roles and access providers. */
    administers: role === 'admin' || role === null,
  }
})

/**
 * Returns the secret of the session, limited to the current database and to the rights of a role or a document.
 * `suffix`: for example `server`, `@role/NAME` or `@doc/COLLECTION/ID`.
 */
export function secretAs(suffix: string): RequestSecret {
  const secret = session.value?.secret ?? ''
  const path = databasePath.value
  return { secret: `${secret}:${path.length === 0 ? '' : `${path.join('/')}:`}${suffix}` }
}

/**
 * If a page with unsaved input waits for the sign-in and the secret belongs to another database, asks the user for
 * confirmation, and throws an Error if the user cancels. Throws {@link ServiceError}, with status 401 for a rejected
 * secret.
 */
export async function signIn(secret: string): Promise<void> {
  if (/[^\x21-\x7e]/.test(secret))
    throw new ServiceError(401, 'A secret contains only ASCII characters without blanks. Copy it again.')
  const principal = await callApi<Principal>('GET', '/api/v1/principal', { secret })
  const isElsewhere = principal.database.join('/') !== session.value?.principal.database.join('/')
  if (expired.value !== undefined && isElsewhere) {
    if (!confirm('This secret is for another database. Unsaved changes will be lost. Continue?'))
      throw new Error('Sign in with a secret for the same database as before.')
    signOut()
  }
  batch(() => {
    signInMessage.value = undefined
    expired.value = undefined
    unreachable.value = undefined
    home.value = principal.database
    session.value = { secret, principal }
  })
  remember(secret)
}

/** State of a page that remains while other pages are open. */
interface PageState {
  readonly forget: () => void
  readonly isUnsaved: () => boolean
}

const pageStates = new Set<PageState>()

/**
 * Registers state to delete on sign-out, so that the next user cannot see it. Signing out asks for confirmation while
 * `isUnsaved` returns true.
 */
export function forgetOnSignOut(forget: () => void, isUnsaved = () => false): void {
  pageStates.add({ forget, isUnsaved })
}

/** Also checks the state of other pages. */
export function hasUnsavedState(): boolean {
  return hasUnsaved() || [...pageStates].some(({ isUnsaved }) => isUnsaved())
}

/** Deletes the secret. `message` is shown on the sign-in page. */
export function signOut(message?: string): void {
  batch(() => {
    signInMessage.value = message
    expired.value = undefined
    session.value = undefined
  })
  for (const { forget } of pageStates) forget()
  remember(undefined)
}

/** Why the secret was rejected. Defined only while the sign-in dialog covers a page with unsaved input. */
export const expired = signal<string | undefined>(undefined)

/** The secret could not access this database, in the form of {@link databaseParameter}. */
export const unreachable = signal<string | undefined>(undefined)

/** The message after the service has rejected the secret of a session. */
export const secretEnded = 'Your secret has expired or was revoked. Sign in again.'

/**
 * Called after the service has rejected the current secret. In a child database, the scope of the secret may be the
 * reason: unless the service also rejects the secret without the scope, the database becomes {@link unreachable}.
 * Otherwise the session ends.
 */
export async function handleRejectedSecret(): Promise<void> {
  const now = session.value
  const database = databaseParameter(databasePath.value)
  if (now && databasePath.value.length > 0) {
    const isRejected = await callApi('GET', '/api/v1/principal', { secret: now.secret }).then(
      () => false,
      cause => cause instanceof ServiceError && cause.status === 401,
    )
    if (!isRejected) {
      unreachable.value = database
      return
    }
  }
  if (session.value === now) endSession(secretEnded)
}

/** Signs out, but a page with unsaved input stays open until the next sign-in. */
export function endSession(reason: string): void {
  if (hasUnsavedState()) {
    remember(undefined)
    batch(() => {
      expired.value = reason
      // The page stays mounted without the secret, so its requests fail until the next sign-in.
      if (session.value) session.value = { ...session.value, secret: '' }
    })
  } else signOut(reason)
}

/** Returns whether the session of this tab has ended. The tab then ignores the sessions of other tabs. */
export function hasSignedOut(): boolean {
  return readStored('sessionStorage', signedOutKey) !== undefined
}

/** Returns the secret that this tab stored before a reload. */
export function rememberedSecret(): string | undefined {
  return readStored('sessionStorage', storageKey)
}

/** If `secret` is undefined, deletes the stored secret and records the sign-out. */
function remember(secret: string | undefined): void {
  store('sessionStorage', storageKey, secret)
  store('sessionStorage', signedOutKey, secret === undefined ? 'yes' : undefined)
}
