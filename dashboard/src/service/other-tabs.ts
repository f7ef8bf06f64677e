// Shares one sign-in between all tabs of a browser. A new tab asks the others, and a signed-in tab answers with its
// secret, over a `BroadcastChannel` that only pages of the same origin and browser profile can read. No tab stores the
// secret for longer than it is open, so closing the last tab signs out.

import { endSession, session, signOut } from '../session.ts'

type Message =
  | { readonly kind: 'secret requested' }
  | { readonly kind: 'answer'; readonly secret: string }
  | { readonly kind: 'sign out' }

/** Milliseconds that a new tab waits for an answer before it shows the sign-in page. */
const patienceMs = 250

const channel =
  typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('terrarium-session')

const send = (message: Message) => channel?.postMessage(message)

/** Answers requests of other tabs, and signs out when another tab signs out everywhere. */
export function joinOtherTabs(): void {
  channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const { secret } = session.value ?? {}
    if (data.kind === 'secret requested' && secret) send({ kind: 'answer', secret })
    if (data.kind === 'sign out' && secret)
      endSession('You signed out in another tab. Sign in again to continue.')
  })
}

/** Returns undefined when no tab answers. */
export function secretOfOtherTab(): Promise<string | undefined> {
  if (!channel) return Promise.resolve(undefined)
  return new Promise(resolve => {
    const end = (secret: string | undefined) => {
      clearTimeout(timer)
      channel.removeEventListener('message', listen)
      resolve(secret)
    }
    const listen = ({ data }: MessageEvent<Message>) => {
      if (data.kind === 'answer') end(data.secret)
    }
    const timer = setTimeout(() => end(undefined), patienceMs)
    channel.addEventListener('message', listen)
    send({ kind: 'secret requested' })
  })
}

export function signOutEverywhere(): void {
  send({ kind: 'sign out' })
  signOut()
}
