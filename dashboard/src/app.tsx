// The application: the sign-in, and the frame with the bar, the navigation and the current page.

import { computed } from '@preact/signals'
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks'
import { SignIn, SignInAgain } from './pages/sign-in.tsx'
import { PageOf } from './pages.tsx'
import { Bar } from './parts/bar.tsx'
import { Button } from './parts/button.tsx'
import { useDismissal } from './parts/dismissal.ts'
import { Heading } from './parts/heading.tsx'
import { handleError } from './parts/load.tsx'
import { Problem } from './parts/problem.tsx'
import { Sections } from './parts/sections.tsx'
import {
  address,
  addressWith,
  databaseParameter,
  databasePath,
  foreignDatabase,
  hasUnsaved,
  home,
  invalidTime,
  pastTime,
} from './router.ts'
import { ServiceError } from './service/faults.ts'
import { joinOtherTabs, secretOfOtherTab } from './service/other-tabs.ts'
import {
  canLimitSecret,
  expired,
  hasSignedOut,
  rememberedSecret,
  secretEnded,
  session,
  signIn,
  signOut,
  unreachable,
} from './session.ts'

export function App() {
  const [error, setError] = useState<Error | undefined>(undefined)
  const [isResuming, setResuming] = useState(rememberedSecret() !== undefined || !hasSignedOut())
  const resume = async () => {
    setError(undefined)
    try {
      const secret = rememberedSecret() ?? (await secretOfOtherTab())
      if (secret !== undefined) await signIn(secret)
      setResuming(false)
    } catch (cause) {
      if (cause instanceof ServiceError && cause.status === 401) {
        signOut(secretEnded)
        setResuming(false)
      } else setError(handleError(cause))
    }
  }
  useEffect(() => {
    joinOtherTabs()
    if (isResuming) void resume()
  }, [])
  if (session.value) {
    return (
      <>
        <Frame key={home.value.join('/')} />
        {expired.value !== undefined && <SignInAgain message={expired.value} />}
      </>
    )
  }
  if (!isResuming) return <SignIn />
  return (
    <main class="sign-in">
      {error ? <Problem error={error} retry={() => void resume()} /> : <p role="status">Loading…</p>}
    </main>
  )
}

function Frame() {
  const [isMenuOpen, setMenuOpen] = useState(false)
  // Each path and each database has its own instance of the page, so that two pages share no state.
  const key = `${address.value.path.join('/')}?${address.value.parameters.get('db') ?? ''}`
  useEffect(() => setMenuOpen(false), [key])
  const menu = useRef<HTMLDivElement>(null)
  useDismissal(menu, isMenuOpen, () => setMenuOpen(false))
  const isLost = isUnreachable.value
  return (
    <div class="frame">
      <Button class="skip" onClick={skipToMain}>
        Skip to content
      </Button>
      <div class="navigation" ref={menu}>
        <Bar isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />
        <Sections isOpen={isMenuOpen} />
      </div>
      <main id="main" tabIndex={-1} class={pastTime.value === undefined ? undefined : 'past'}>
        {isLost ? (
          <Unreachable />
        ) : (
          invalidTime.value !== undefined && <InvalidTime text={invalidTime.value} />
        )}
        {/* A page with unsaved input stays below the message, so that the input is not lost. */}
        {((!isLost && invalidTime.value === undefined) || hasUnsaved()) && <PageBoundary key={key} />}
      </main>
    </div>
  )
}

function InvalidTime({ text }: { text: string }) {
  return (
    <>
      <Heading title="Invalid time" />
      <p class="problem" role="alert">
        The address contains the invalid time “<bdi>{text.slice(0, 60)}</bdi>”. Use the format
        2026-01-31T12:00:00Z.
      </p>
      <p>
        <a href={addressWith({ at: undefined })}>Back to now</a>
      </p>
    </>
  )
}

function skipToMain(): void {
  document.getElementById('main')?.focus()
}

/** Shows the error of a page that throws. The bar and the navigation stay usable. */
function PageBoundary() {
  const [error, reset] = useErrorBoundary(cause => console.error(cause))
  if (error !== undefined) return <Problem error={error as Error} retry={reset} />
  return <PageOf />
}

/** The address names a database that the secret cannot access. */
const isUnreachable = computed(() => {
  if (foreignDatabase.value) return true
  if (databasePath.value.length === 0) return false
  return !canLimitSecret.value || unreachable.value === databaseParameter(databasePath.value)
})

function reason(): string {
  const own = home.value.join('/') || 'the outermost database'
  if (foreignDatabase.value)
    return `Your secret belongs to ${own} and can only access that database. This address belongs to another database.`
  if (!canLimitSecret.value)
    return `Your secret can only access ${own}. Sign in with an admin key to access the databases below it.`
  return `There is no such database in ${own}. It may have been renamed, moved or deleted.`
}

/** Replaces a page of a database that the secret cannot access, with links to other databases. */
function Unreachable() {
  const name = (foreignDatabase.value ?? [...home.value, ...databasePath.value]).join('/')
  const own = home.value.at(-1) ?? 'the outermost database'
  // Links of earlier versions of the dashboard contained a path below the database of the secret. This page offers a
  // link to the database at this path.
  const below =
    foreignDatabase.value && canLimitSecret.value ? databaseParameter(foreignDatabase.value) : undefined
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
          <Button class="quiet" onClick={() => signOut()}>
            Sign in with another secret
          </Button>
        </li>
      </ul>
      {session.value?.principal.is_root && <p>The overview lists all databases.</p>}
    </>
  )
}
