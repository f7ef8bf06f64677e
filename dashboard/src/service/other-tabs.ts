// One sign-in for all tabs of a browser. A tab that is opened asks the others, and one that is signed in answers with its
// secret. It goes through a channel that only pages of the very same origin, in the same profile of the same browser, can
// hear, and is written nowhere: with the last tab it is forgotten.

import { endOrWait, session, signOut } from '../session.ts'

type Message =
  | { readonly kind: 'asked' }
  | { readonly kind: 'answer'; readonly secret: string }
  | { readonly kind: 'sign out' }

/** As long as a new tab waits for an answer before it shows the sign-in page. */
const patienceMs = 250

const channel =
  typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('terrarium-session')

const send = (message: Message) => channel?.postMessage(message)

/** Begins to answer other tabs, and to sign out with them. */
export function joinOtherTabs(): void {
  channel?.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    const { secret } = session.value ?? {}
    if (data.kind === 'asked' && secret) send({ kind: 'answer', secret })
    if (data.kind === 'sign out' && secret) endOrWait('You have signed out in another tab.')
  })
}

/** The secret that another tab is signed in with; undefined when none answers. */
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
    send({ kind: 'asked' })
  })
}

/** Signs out in every tab of the browser. */
export function signOutEverywhere(): void {
  send({ kind: 'sign out' })
  signOut()
}
