// The sign-in form, as a page and as a dialog over a page whose secret has expired.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { useAction } from '../parts/load.tsx'
import { Problem } from '../parts/problem.tsx'
import { ServiceError } from '../service/faults.ts'
import { signIn, signInMessage, signOut } from '../session.ts'

/** The page while no user is signed in. */
export function SignIn() {
  useEffect(() => {
    document.title = 'Sign in · Terrarium'
  }, [])
  return (
    <main class="sign-in">
      <SignInForm message={signInMessage.value}>
        <img src="/dashboard/icon.svg" alt="" width="56" height="56" />
        <h1>Terrarium</h1>
      </SignInForm>
    </main>
  )
}

/**
 * Covers a page whose secret was rejected. The page and its unsaved input stay hidden behind the dialog until the next
 * sign-in.
 */
export function SignInAgain({ message }: { message: string }) {
  return (
    <Dialog
      title="Sign in again"
      class="sign-in-again"
      question={() => 'Sign out? Unsaved changes will be lost.'}
      onClose={() => signOut()}
    >
      <div class="dialog-body">
        <SignInForm message={`${message} Your unsaved changes are kept.`} />
      </div>
    </Dialog>
  )
}

interface FormProps {
  readonly message: string | undefined
  readonly children?: ComponentChildren
}

function SignInForm({ message, children }: FormProps) {
  const [secret, setSecret] = useState('')
  const action = useAction()
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const submit = (event: Event) => {
    event.preventDefault()
    if (secret.trim() === '') return
    action.start(async () => {
      try {
        await signIn(secret.trim())
      } catch (cause) {
        if (cause instanceof ServiceError && cause.status === 401) throw rejected
        throw cause
      }
    })
  }
  return (
    <form onSubmit={submit}>
      {children}
      {message !== undefined && !action.error && (
        <p class="problem" role="alert">
          {message}
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
          The secret of a key or a token, or the root secret of this service. The root secret is in the file{' '}
          <code>root-secret</code> in the data directory.
        </p>
      </div>
      {action.error && <Problem error={action.error} />}
      <button type="submit" class="primary" disabled={action.isRunning}>
        {action.isRunning ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  )
}

const rejected = new Error(
  'The service rejects this secret. Check that you copied the whole secret, and that its key was not deleted.',
)
