// The frame around all pages: who is signed in, where one is, and the page of the address.

import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import { SignIn } from './pages/sign-in.tsx'
import { PageOf } from './pages.tsx'
import { Bar } from './parts/bar.tsx'
import { failureOf } from './parts/load.tsx'
import { Problem } from './parts/problem.tsx'
import { Sections } from './parts/sections.tsx'
import { pastTime, place } from './router.ts'
import { rememberedSecret, session, signIn } from './session.ts'

/** The whole application. */
export function App() {
  const [error, setError] = useState<Error | undefined>(undefined)
  const [isReturning, setReturning] = useState(rememberedSecret() !== undefined)
  const resume = () => {
    const secret = rememberedSecret()
    if (secret === undefined) return
    setError(undefined)
    signIn(secret).then(
      () => setReturning(false),
      cause => {
        const failure = failureOf(cause)
        setError(failure)
        if (rememberedSecret() === undefined) setReturning(false)
      },
    )
  }
  useEffect(resume, [])
  if (session.value) return <Frame />
  if (!isReturning) return <SignIn />
  return (
    <main class="sign-in">
      {error ? <Problem error={error} retry={resume} /> : <p role="status">Loading…</p>}
    </main>
  )
}

function Frame() {
  const [isMenuOpen, setMenuOpen] = useState(false)
  // A page of another address has nothing in common with the one before.
  const key = `${place.value.path.join('/')}?${place.value.parameters.get('db') ?? ''}`
  useEffect(() => setMenuOpen(false), [key])
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={skipToMain}>
        Skip to content
      </button>
      <Bar isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />
      <Sections isOpen={isMenuOpen} />
      <main id="main" tabIndex={-1} class={pastTime.value === undefined ? undefined : 'past'}>
        <Guarded key={key} />
      </main>
    </div>
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
