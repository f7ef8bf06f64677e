// The frame around all pages: who is signed in, where one is, and the page of the address.

import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks'
import { SignIn, SignInAgain } from './pages/sign-in.tsx'
import { isUnreachable, Unreachable } from './pages/unreachable.tsx'
import { PageOf } from './pages.tsx'
import { Bar } from './parts/bar.tsx'
import { useDismissal } from './parts/dismissal.ts'
import { Heading } from './parts/heading.tsx'
import { failureOf } from './parts/load.tsx'
import { Problem } from './parts/problem.tsx'
import { Sections } from './parts/sections.tsx'
import { addressWith, hasUnsaved, home, noTime, pastTime, place } from './router.ts'
import { ServiceError } from './service/faults.ts'
import { joinOtherTabs, secretOfOtherTab } from './service/other-tabs.ts'
import { expired, hasSignedOut, rememberedSecret, session, signIn, signOut } from './session.ts'

/** The whole application. */
export function App() {
  const [error, setError] = useState<Error | undefined>(undefined)
  const [isReturning, setReturning] = useState(rememberedSecret() !== undefined || !hasSignedOut())
  const resume = async () => {
    setError(undefined)
    try {
      const secret = rememberedSecret() ?? (await secretOfOtherTab())
      if (secret !== undefined) await signIn(secret)
      setReturning(false)
    } catch (cause) {
      if (cause instanceof ServiceError && cause.status === 401) {
        signOut('The secret is not accepted any more: it has expired or was revoked. Sign in again.')
        setReturning(false)
      } else setError(failureOf(cause))
    }
  }
  useEffect(() => {
    joinOtherTabs()
    if (isReturning) void resume()
  }, [])
  if (session.value) {
    return (
      <>
        <Frame key={home.value.join('/')} />
        {expired.value !== undefined && <SignInAgain message={expired.value} />}
      </>
    )
  }
  if (!isReturning) return <SignIn />
  return (
    <main class="sign-in">
      {error ? <Problem error={error} retry={() => void resume()} /> : <p role="status">Loading…</p>}
    </main>
  )
}

function Frame() {
  const [isMenuOpen, setMenuOpen] = useState(false)
  // A page of another address has nothing in common with the one before.
  const key = `${place.value.path.join('/')}?${place.value.parameters.get('db') ?? ''}`
  useEffect(() => setMenuOpen(false), [key])
  const menu = useRef<HTMLDivElement>(null)
  useDismissal(menu, isMenuOpen, () => setMenuOpen(false))
  const isLost = isUnreachable.value
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={skipToMain}>
        Skip to content
      </button>
      <div class="navigation" ref={menu}>
        <Bar isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />
        <Sections isOpen={isMenuOpen} />
      </div>
      <main id="main" tabIndex={-1} class={pastTime.value === undefined ? undefined : 'past'}>
        {isLost ? <Unreachable /> : noTime.value !== undefined && <NoTime text={noTime.value} />}
        {((!isLost && noTime.value === undefined) || hasUnsaved()) && <Guarded key={key} />}
      </main>
    </div>
  )
}

/** In the place of a page at a time that is none. */
function NoTime({ text }: { text: string }) {
  return (
    <>
      <Heading title="There is no such time" />
      <p class="problem" role="alert">
        The address asks for the time “<bdi>{text.slice(0, 60)}</bdi>”. A time looks like
        2026-01-31T12:00:00Z.
      </p>
      <p>
        <a href={addressWith({ at: undefined })}>Look at the present</a>
      </p>
    </>
  )
}

function skipToMain(): void {
  document.getElementById('main')?.focus()
}

/** A page whose code fails says so and leaves the rest usable. */
function Guarded() {
  const [error, reset] = useErrorBoundary(cause => console.error(cause))
  if (error !== undefined) return <Problem error={error as Error} retry={reset} />
  return <PageOf />
}
