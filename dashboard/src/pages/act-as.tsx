// Chooses in whose name queries run: one's own, a role, a document that has logged in, or a key.

import { useEffect, useState } from 'preact/hooks'
import { Choice, Field } from '../parts/fields.tsx'
import { useChoices } from '../parts/schema-list.tsx'
import { place } from '../router.ts'
import type { Scope } from '../service/client.ts'
import { canScope, scopeAs } from '../session.ts'

interface ActAsProps {
  /** Called with undefined for oneself. */
  readonly onChange: (scope: Scope | undefined) => void
}

const builtin = ['admin', 'server', 'server-readonly', 'client'] as const

/** The choice. Roles and documents are for who may narrow the secret: admins. */
export function ActAs({ onChange }: ActAsProps) {
  // The page of a user leads here with its document in the address.
  const asked = place.value.parameters.get('as') ?? ''
  const [choice, setChoice] = useState(asked === '' || !canScope.value ? '' : 'document')
  const [document, setDocument] = useState(asked)
  const [secret, setSecret] = useState('')
  const roles = useChoices('roles')
  useEffect(() => onChange(scopeOf(choice, document, secret)), [choice, document, secret])
  const scoped: (readonly [string, string])[] = [
    ...builtin.map(role => [role, `the role ${role}`] as const),
    ...(roles.data ?? []).map(name => [`@role/${name}`, `the role ${name}`] as const),
    ['document', 'a document…'],
  ]
  return (
    <div class="inline-form">
      <Choice
        label="Act as"
        value={choice}
        onChange={setChoice}
        options={[['', 'myself'], ...(canScope.value ? scoped : []), ['key', 'a key…']]}
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

function scopeOf(choice: string, document: string, secret: string): Scope | undefined {
  if (choice === '') return undefined
  if (choice === 'key') return { secret }
  return scopeAs(choice === 'document' ? `@doc/${document.trim()}` : choice)
}
