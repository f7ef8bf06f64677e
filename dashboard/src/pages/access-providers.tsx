// Access providers: third parties whose signed tokens are accepted.

import { useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy.tsx'
import { SchemaPage } from '../parts/definition.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Check, Field } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { type Column, SchemaList, useChoices } from '../parts/schema-list.tsx'
import { addressOf, go, pastTime } from '../router.ts'
import { createSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { type Query, textAt } from '../wire/json.ts'

const section = 'access-providers'

const columns: readonly Column[] = [
  [
    'Name',
    each => {
      const name = textAt(each, 'name') ?? ''
      return <a href={addressOf([section, name])}>{name}</a>
    },
  ],
  ['Issuer', each => <bdi>{textAt(each, 'issuer')}</bdi>],
  ['Signing keys', each => <bdi>{textAt(each, 'jwks_uri')}</bdi>],
]

/** The pages of access providers. */
export function AccessProviders({ path: [name] }: { readonly path: readonly string[] }) {
  if (name === undefined) return <ProviderList />
  return (
    <SchemaPage
      native="access_providers"
      section={section}
      plural="Access providers"
      singular="access provider"
      id={name}
      isTyped
      deleteWarning="Its tokens are refused from then on."
    >
      {document => (
        <p>
          Audience that its tokens have to name: <code>{textAt(document, 'audience')}</code>{' '}
          <CopyButton text={textAt(document, 'audience') ?? ''} />
        </p>
      )}
    </SchemaPage>
  )
}

function ProviderList() {
  const [isCreating, setCreating] = useState(false)
  return (
    <>
      <Heading title="Access providers">
        {rights.value.administers && pastTime.value === undefined && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New access provider
          </button>
        )}
      </Heading>
      <SchemaList
        native="access_providers"
        label="Access providers"
        columns={columns}
        whenEmpty="There are no access providers. One lets users in who have logged in elsewhere, such as at Auth0 or Keycloak."
      />
      {isCreating && <NewProvider onClose={() => setCreating(false)} />}
    </>
  )
}

function NewProvider({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [issuer, setIssuer] = useState('')
  const [jwks, setJwks] = useState('')
  const [chosen, setChosen] = useState<readonly string[]>([])
  const roles = useChoices('roles')
  const create = async (signal: AbortSignal) => {
    const fields: Record<string, Query> = { name, issuer, jwks_uri: jwks }
    if (chosen.length > 0) fields.roles = chosen.map(role => ({ role }))
    await createSchema('access_providers', { object: fields }, signal)
    onClose()
    go(addressOf([section, name]))
  }
  return (
    <FormDialog
      title="New access provider"
      submit="Create"
      isReady={name !== '' && issuer !== '' && jwks !== ''}
      onClose={onClose}
      onSubmit={create}
    >
      <Field label="Name" value={name} onInput={setName} isRequired hasFocus isMono />
      <Field
        label="Issuer"
        value={issuer}
        onInput={setIssuer}
        isRequired
        placeholder="https://example.eu.auth0.com/"
        hint="Exactly as its tokens name it, with a slash at the end if they have one."
      />
      <Field
        label="Address of its signing keys"
        value={jwks}
        onInput={setJwks}
        isRequired
        placeholder="https://example.eu.auth0.com/.well-known/jwks.json"
      />
      <fieldset>
        <legend>Roles that its users hold</legend>
        {(roles.data ?? []).map(role => {
          const each = textAt(role, 'name') ?? ''
          return (
            <div key={each}>
              <Check
                label={<bdi>{each}</bdi>}
                isOn={chosen.includes(each)}
                onChange={isOn =>
                  setChosen(isOn ? [...chosen, each] : chosen.filter(other => other !== each))
                }
              />
            </div>
          )
        })}
        {roles.data?.length === 0 && (
          <p class="hint">There are no roles yet. Without one its users are refused.</p>
        )}
      </fieldset>
    </FormDialog>
  )
}
