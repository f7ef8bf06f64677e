// The way in: a secret, and nothing else.

import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { ServiceError } from '../service/faults.ts'
import { farewell, signIn } from '../session.ts'

/** The page for people who are not signed in. */
export function SignIn() {
  const [secret, setSecret] = useState('')
  const action = useAction()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    document.title = 'Sign in · Terrarium'
    field.current?.focus()
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    if (secret.trim() === '') return
    action.start(async () => {
      try {
        await signIn(secret.trim())
      } catch (cause) {
        if (cause instanceof ServiceError && cause.status === 401) throw refused
        throw cause
      }
    })
  }
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <img src="/dashboard/icon.svg" alt="" width="56" height="56" />
        <h1>Terrarium</h1>
        {farewell.value !== undefined && !action.error && (
          <p class="problem" role="alert">
            {farewell.value}
          </p>
        )}
        <div class="field">
          <label for="secret">Secret</label>
          <input
            id="secret"
            ref={field}
            type="password"
            autoComplete="current-password"
            spellcheck={false}
            value={secret}
            aria-describedby="secret-hint"
            onInput={event => setSecret(event.currentTarget.value)}
          />
          <p class="hint" id="secret-hint">
            Of a key or token, or the operator's. The first start has left that in the file{' '}
            <code>root-secret</code> of the data directory. It stays in this tab.
          </p>
        </div>
        {action.error && <Problem error={action.error} />}
        <button type="submit" class="primary" disabled={action.isRunning}>
          {action.isRunning ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  )
}

const refused = new Error(
  'This secret is not accepted. Check that it is whole, and that its key was not deleted.',
)
