// The bar on top: the database looked at, the time looked at, light or dark, and the way out.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { addressIn, addressWith, databasePath, go, pastTime } from '../router.ts'
import { session, signOut } from '../session.ts'
import { Field } from './fields.tsx'
import { localTime } from './time.tsx'

interface BarProps {
  readonly isMenuOpen: boolean
  readonly onMenu: () => void
}

/** The bar on top of every page. */
export function Bar({ isMenuOpen, onMenu }: BarProps) {
  return (
    <header class="bar">
      <button
        type="button"
        class="menu quiet"
        aria-expanded={isMenuOpen}
        aria-controls="sections"
        onClick={onMenu}
      >
        ☰<span class="unseen"> Menu</span>
      </button>
      <img src="/dashboard/icon.svg" alt="" width="26" height="26" />
      <DatabaseTrail />
      <TimeControl />
      <ThemeButton />
      <button type="button" class="quiet" onClick={() => signOut()}>
        Sign out
      </button>
    </header>
  )
}

/** The databases from the secret's own down to the one looked at. */
function DatabaseTrail() {
  const own = session.value?.principal.database ?? []
  const path = databasePath.value
  const names = [own.at(-1) ?? 'root', ...path]
  return (
    <nav class="trail" aria-label="Database">
      <ol>
        {names.map((name, level) => {
          const isLast = level === names.length - 1
          const db = path.slice(0, level).join('/') || undefined
          return (
            <li key={`${level}`}>
              {isLast ? (
                <b>
                  <bdi>{name}</bdi>
                </b>
              ) : (
                <a href={addressIn([], { db })}>
                  <bdi>{name}</bdi>
                </a>
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
  return is_root ? 'root' : (role ?? 'roles')
}

/** Chooses a moment of the past to look at. */
function TimeControl() {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const past = pastTime.value
  const ms = past === undefined ? undefined : Date.parse(past)
  const open = () => {
    const now = new Date(ms ?? Date.now())
    setText(new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 19))
    setOpen(!isOpen)
  }
  const apply = (event: Event) => {
    event.preventDefault()
    const chosen = new Date(text)
    if (Number.isNaN(chosen.getTime())) return
    setOpen(false)
    go(addressWith({ at: chosen.toISOString(), after: undefined, before: undefined }))
  }
  return (
    <div class="time-control">
      <button
        type="button"
        class={past === undefined ? 'quiet' : 'past-button'}
        aria-expanded={isOpen}
        onClick={open}
      >
        At: {ms === undefined ? 'now' : localTime(ms)}
      </button>
      {past !== undefined && (
        <a class="button" href={addressWith({ at: undefined, after: undefined, before: undefined })}>
          Back to now
        </a>
      )}
      {isOpen && (
        <form class="popover" onSubmit={apply}>
          <Field
            label="Look at the time"
            type="datetime-local"
            step="1"
            value={text}
            onInput={setText}
            hint="In your time zone. Data as it was then is shown; it cannot be changed."
          />
          <button type="submit" class="primary">
            Look
          </button>
        </form>
      )}
    </div>
  )
}

const themeKey = 'terrarium-theme'
const themes = ['system', 'light', 'dark'] as const
type Theme = (typeof themes)[number]

const theme = signal<Theme>(storedTheme())
apply(theme.value)

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(themeKey)
    return themes.find(name => name === stored) ?? 'system'
  } catch {
    return 'system'
  }
}

function apply(chosen: Theme): void {
  document.documentElement.dataset.theme = chosen
}

function ThemeButton() {
  const choose = () => {
    theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system'
    apply(theme.value)
    try {
      localStorage.setItem(themeKey, theme.value)
    } catch {
      // The choice then lasts until the page is closed.
    }
  }
  const sign = { system: '◐', light: '☀', dark: '☾' }[theme.value]
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Colours: ${theme.value}`}
      title={`Colours: ${theme.value}`}
      onClick={choose}
    >
      {sign}
    </button>
  )
}
