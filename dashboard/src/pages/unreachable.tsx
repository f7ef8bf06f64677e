// In the place of a page of a database that the secret does not reach: what is so, and the ways on.

import { computed } from '@preact/signals'
import { Heading } from '../parts/heading.tsx'
import { addressWith, databaseParameter, databasePath, foreignDatabase, home } from '../router.ts'
import { canScope, session, signOut, unreachable } from '../session.ts'

/** Whether the address names a database that the secret does not reach. */
export const isUnreachable = computed(() => {
  if (foreignDatabase.value) return true
  if (databasePath.value.length === 0) return false
  return !canScope.value || unreachable.value === databaseParameter(databasePath.value)
})

function reason(): string {
  const own = home.value.join('/') || 'the outermost database'
  if (foreignDatabase.value)
    return `Your secret is of ${own} and sees what is in that. The address is of another database.`
  const isNarrow = !canScope.value
  if (isNarrow)
    return `Your secret sees ${own} only. To look into the databases below takes the secret of an admin key.`
  return `There is no such database in ${own} now: it was renamed, moved or deleted.`
}

/** The page. */
export function Unreachable() {
  const name = (foreignDatabase.value ?? [...home.value, ...databasePath.value]).join('/')
  const own = home.value.at(-1) ?? 'the outermost database'
  // Links were written from the database of the secret down before; what may be meant is offered, never assumed.
  const below = foreignDatabase.value && canScope.value ? databaseParameter(foreignDatabase.value) : undefined
  return (
    <>
      <Heading title={`The database ${name} cannot be reached`} />
      <p class="problem" role="alert">
        {reason()}
      </p>
      <ul>
        <li>
          <a href={addressWith({ db: undefined })}>Open this page in {own}</a>
        </li>
        {below !== undefined && (
          <li>
            <a href={addressWith({ db: below })}>Open this page in {below}</a>, if there is such a database
          </li>
        )}
        <li>
          <button type="button" class="quiet" onClick={() => signOut()}>
            Sign in with another secret
          </button>
        </li>
      </ul>
      {session.value?.principal.is_root && <p>The overview lists the databases that there are.</p>}
    </>
  )
}
