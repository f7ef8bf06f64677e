// The bar at the top: the current database, the choice of a past time, time zone and colours, and the sign-out menu.

import { effect } from '@preact/signals'
import { useRef, useState } from 'preact/hooks'
import { addressIn, addressWith, databaseParameter, databasePath, go, pastTime } from '../router.ts'
import { signOutEverywhere } from '../service/other-tabs.ts'
import { hasUnsavedState, session, signOut } from '../session.ts'
import { Button } from './button.tsx'
import { useDismissal } from './dismissal.ts'
import { Field } from './fields.tsx'
import { NameLink } from './link.tsx'
import { Problem } from './problem.tsx'
import { storedChoice } from './stored-choice.ts'
import { changeZone, fieldTime, instantOf, localTime, zone, zoneName } from './time.tsx'

interface BarProps {
  readonly isMenuOpen: boolean
  readonly onMenu: () => void
}

export function Bar({ isMenuOpen, onMenu }: BarProps) {
  return (
    <header class="bar">
      <Button class="menu quiet" aria-expanded={isMenuOpen} aria-controls="sections" onClick={onMenu}>
        ☰<span class="unseen"> Menu</span>
      </Button>
      <img src="/dashboard/icon.svg" alt="" width="26" height="26" />
      <DatabaseTrail />
      <TimeControl />
      <ZoneButton />
      <ThemeButton />
      <SignOut />
    </header>
  )
}

/** Shows the path from the database of the secret to the current database. */
function DatabaseTrail() {
  const own = session.value?.principal.database ?? []
  const path = databasePath.value
  const names = [own.at(-1) ?? 'root', ...path]
  return (
    <nav class="trail" aria-label="Database">
      <ol>
        {names.map((name, level) => {
          const isLast = level === names.length - 1
          const db = databaseParameter(path.slice(0, level))
          return (
            <li key={`${level}`}>
              {isLast ? (
                <b>
                  <bdi>{name}</bdi>
                </b>
              ) : (
                <NameLink href={addressIn([], { db })} name={name} />
              )}
            </li>
          )
        })}
      </ol>
      <span class="role">{identityText()}</span>
    </nav>
  )
}

function identityText(): string {
  const principal = session.value?.principal
  if (!principal) return ''
  const { identity, role, is_root } = principal
  if (identity !== null && typeof identity === 'object') return `as ${identity.collection}/${identity.id}`
  if (typeof identity === 'string') return `as ${identity}`
  return is_root ? 'as root secret' : (role ?? 'roles')
}

/** Asks for confirmation if there is unsaved input. */
function SignOut() {
  const [isOpen, setOpen] = useState(false)
  const part = useRef<HTMLDivElement>(null)
  useDismissal(part, isOpen, () => setOpen(false))
  const leave = (how: () => void) => {
    if (!hasUnsavedState() || confirm('Sign out? Unsaved changes will be lost.')) how()
  }
  return (
    <div class="sign-out" ref={part}>
      <Button class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Sign out
      </Button>
      {isOpen && (
        <div class="popover">
          <Button onClick={() => leave(signOut)}>Sign out of this tab</Button>
          <Button onClick={() => leave(signOutEverywhere)}>Sign out of all tabs</Button>
          <p class="hint">All tabs of this browser that show this service.</p>
        </div>
      )}
    </div>
  )
}

function TimeControl() {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const [error, setError] = useState<Error | undefined>(undefined)
  const part = useRef<HTMLDivElement>(null)
  useDismissal(part, isOpen, () => setOpen(false))
  const past = pastTime.value
  const ms = past === undefined ? undefined : Date.parse(past)
  const toggle = () => {
    setText(fieldTime(ms ?? Date.now()))
    setError(undefined)
    setOpen(!isOpen)
  }
  const apply = (event: Event) => {
    event.preventDefault()
    try {
      const at = instantOf(text)
      if (Date.parse(at) > Date.now()) throw new Error('This time is in the future. Choose an earlier time.')
      setOpen(false)
      go(addressWith({ at, after: undefined, before: undefined }))
    } catch (cause) {
      setError(cause as Error)
    }
  }
  return (
    <div class="time-control" ref={part}>
      <Button class={past === undefined ? 'quiet' : 'past-button'} aria-expanded={isOpen} onClick={toggle}>
        At: {ms === undefined ? 'now' : localTime(ms)}
      </Button>
      {past !== undefined && (
        <a class="button" href={addressWith({ at: undefined, after: undefined, before: undefined })}>
          Back to now
        </a>
      )}
      {isOpen && (
        <form class="popover" onSubmit={apply} noValidate>
          <Field
            label="Show data as of"
            type="datetime-local"
            step="1"
            value={text}
            onInput={setText}
            hint={`Time zone: ${zoneName()}. All pages then show the data as of this time, read-only.`}
          />
          {error && <Problem error={error} />}
          <button type="submit" class="primary">
            Show
          </button>
        </form>
      )}
    </div>
  )
}

const { chosen: theme, next: changeTheme } = storedChoice('terrarium-theme', ['system', 'light', 'dark'])
effect(() => {
  document.documentElement.dataset.theme = theme.value
})

function ZoneButton() {
  const label = `Times: ${zoneName()}`
  return (
    <Button class="quiet zone" aria-label={label} title={label} onClick={changeZone}>
      {zone.value === 'UTC' ? 'UTC' : 'Local'}
    </Button>
  )
}

function ThemeButton() {
  const sign = { system: '◐', light: '☀', dark: '☾' }[theme.value]
  return (
    <Button
      class="quiet"
      aria-label={`Colours: ${theme.value}`}
      title={`Colours: ${theme.value}`}
      onClick={changeTheme}
    >
      {sign}
    </Button>
  )
}
