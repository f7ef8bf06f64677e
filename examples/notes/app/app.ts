// The page: sign up, log in, and a list of notes that is updated after every change, from this page or another.

import { Client, ConstraintFailureError, type EventSourceToken, fql, ServiceError } from 'terrarium-client'
import type { NewNote, Note, NoteChanges, User } from './schema.ts'

const find = <Each extends Element>(selector: string) => document.querySelector(selector) as Each
const [alertLine, main, list] = [find<HTMLElement>('[role=alert]'), find<HTMLElement>('main'), find('ul')]
const [loginForm, addForm] = [find<HTMLFormElement>('#login'), find<HTMLFormElement>('#add')]

/** The key in the session storage, which keeps the secret of a login until the tab is closed. */
const sessionKey = 'secret'

const visitor = new Client(await (await fetch('/config.json')).json())

/** The state of the page: the notes of a user, until `stop` is aborted. */
interface Session {
  readonly client: Client
  readonly stop: AbortController
}

let session: Session | undefined

/** The user, the notes, and an event source for their later changes. */
interface Start {
  readonly user: User
  readonly notes: readonly Note[]
  readonly source: EventSourceToken<Note>
}

async function open(client: Client): Promise<void> {
  const { data } = await client.query<Start>(fql`
    let user: Any = Query.identity()
    let notes = Note.byOwner(user)
    { user: user, notes: notes.toArray(), source: notes.eventSource() }
  `)
  session = { client, stop: new AbortController() }
  find('#email').textContent = data.user.email
  list.replaceChildren()
  for (const note of data.notes) show(note)
  loginForm.hidden = true
  main.hidden = false
  void follow(session, data.source)
}

/** Shows changes as they happen, including those of this page: no other code changes the list. */
async function follow({ client, stop }: Session, source: EventSourceToken<Note>): Promise<void> {
  try {
    for await (const { type, data } of client.follow(source, { everyMs: 500, signal: stop.signal })) {
      if (type === 'remove') document.getElementById(data.id)?.remove()
      else show(data)
    }
  } catch (error) {
    if (!stop.signal.aborted) tell(error)
  }
}

function show(note: Note): void {
  const item = document.createElement('li')
  item.id = note.id
  item.className = note.done ? 'done' : ''
  const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: note.done })
  box.setAttribute('aria-label', `Done: ${note.text}`)
  const change: NoteChanges = { done: !note.done }
  box.onchange = () => run(fql`${note}!.update(${change})`)
  const text = Object.assign(document.createElement('span'), { textContent: note.text })
  const remove = Object.assign(document.createElement('button'), { textContent: 'Delete' })
  remove.onclick = () => run(fql`${note}!.delete()`)
  item.append(box, text, remove)
  const before = document.getElementById(note.id)
  if (before) before.replaceWith(item)
  else list.append(item)
}

async function run(query: ReturnType<typeof fql>): Promise<void> {
  await attempt(async () => {
    await session?.client.query(query)
  })
}

async function attempt(action: () => Promise<void>): Promise<void> {
  alertLine.textContent = ''
  await action().catch(tell)
}

function tell(error: unknown): void {
  if (error instanceof ConstraintFailureError) alertLine.textContent = 'There is a user with this email.'
  else if (error instanceof ServiceError && error.code === 'abort')
    alertLine.textContent = 'Wrong email or password.'
  else alertLine.textContent = String(error)
}

loginForm.onsubmit = event => {
  event.preventDefault()
  const [email, password] = ['email', 'password'].map(name => String(new FormData(loginForm).get(name)))
  const isNew = (event.submitter as HTMLButtonElement).value === 'signUp'
  void attempt(async () => {
    const query = isNew ? fql`signUp(${email}, ${password})` : fql`logIn(${email}, ${password})`
    const { client, secret } = await visitor.login(query)
    sessionStorage.setItem(sessionKey, secret)
    await open(client)
  })
}

addForm.onsubmit = event => {
  event.preventDefault()
  const note: Omit<NewNote, 'owner'> = { text: String(new FormData(addForm).get('text')) }
  addForm.reset()
  void run(fql`
    let owner: Any = Query.identity()
    Note.create({ owner: owner, text: ${note.text} })
  `)
}

find<HTMLButtonElement>('#logout').onclick = () =>
  attempt(async () => {
    session?.stop.abort()
    sessionStorage.removeItem(sessionKey)
    loginForm.hidden = false
    main.hidden = true
    await session?.client.logout()
  })

const kept = sessionStorage.getItem(sessionKey)
if (kept !== null) await open(visitor.as(kept)).catch(() => sessionStorage.removeItem(sessionKey))
