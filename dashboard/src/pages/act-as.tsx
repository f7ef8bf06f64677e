// The field “Run as”, which chooses the secret for the queries of the user: the secret of the session, possibly limited
// to a role or to the rights of a document, or the secret of a key.

import { useEffect, useState } from 'preact/hooks'
import { Choice, Field } from '../parts/fields.tsx'
import { useChoices } from '../parts/schema-list.tsx'
import { address } from '../router.ts'
import type { RequestSecret } from '../service/client.ts'
import { canLimitSecret, secretAs } from '../session.ts'

interface ActAsProps {
  /** Undefined for the secret of the session. */
  readonly onChange: (secret: RequestSecret | undefined) => void
}

const builtin = ['admin', 'server', 'server-readonly', 'client'] as const

/** Offers roles and documents only if the secret can be limited to them; see {@link canLimitSecret}. */
export function ActAs({ onChange }: ActAsProps) {
  // The page of a user links to the shell, with the user's document in the address.
  const requested = address.value.parameters.get('as') ?? ''
  const [choice, setChoice] = useState(requested === '' || !canLimitSecret.value ? '' : 'document')
  const [document, setDocument] = useState(requested)
  const [secret, setSecret] = useState('')
  const roles = useChoices('roles')
  useEffect(() => onChange(secretOf(choice, document, secret)), [choice, document, secret])
  const scoped: (readonly [string, string])[] = [
    ...builtin.map(role => [role, `the role ${role}`] as const),
    ...(roles.data ?? []).map(name => [`@role/${name}`, `the role ${name}`] as const),
    ['document', 'a document…'],
  ]
  return (
    <div class="inline-form">
      <Choice
        label="Run as"
        value={choice}
        onChange={setChoice}
        options={[['', 'myself'], ...(canLimitSecret.value ? scoped : []), ['key', 'a key…']]}
      />
      {choice === 'document' && (
        <Field label="Document" value={document} onInput={setDocument} isMono placeholder="users/123" />
      )}
      {choice === 'key' && (
        <Field label="Secret of the key" type="password" value={secret} onInput={setSecret} isMono />
      )}
    </div>
  )
}

function secretOf(choice: string, document: string, secret: string): RequestSecret | undefined {
  if (choice === '') return undefined
  if (choice === 'key') return { secret }
  return secretAs(choice === 'document' ? `@doc/${document.trim()}` : choice)
}
