// The pages of access providers: third parties whose signed tokens the service accepts.

import { useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy.tsx'
import { CreateButton } from '../parts/create-button.tsx'
import { SchemaPage } from '../parts/definition.tsx'
import { FormDialog } from '../parts/dialog.tsx'
import { Check, Choice, Field, NameField, optionsOf } from '../parts/fields.tsx'
import { Heading } from '../parts/heading.tsx'
import { type Column, nameColumn, SchemaList, useChoices } from '../parts/schema-list.tsx'
import { addressOf, go } from '../router.ts'
import { createSchema } from '../service/schema.ts'
import { rights } from '../session.ts'
import { type Query, textAt } from '../wire/json.ts'

const columns: readonly Column[] = [
  nameColumn('access-providers'),
  ['Issuer', each => <bdi>{textAt(each, 'issuer')}</bdi>],
  ['JWKS URI', each => <bdi>{textAt(each, 'jwks_uri')}</bdi>],
]

/** Addresses of common providers. */
const samples: Readonly<Record<string, { readonly issuer: string; readonly jwks: string }>> = {
  Auth0: {
    issuer: 'https://YOUR-TENANT.eu.auth0.com/',
    jwks: 'https://YOUR-TENANT.eu.auth0.com/.well-known/jwks.json',
  },
  Keycloak: {
    issuer: 'https://YOUR-HOST/realms/YOUR-REALM',
    jwks: 'https://YOUR-HOST/realms/YOUR-REALM/protocol/openid-connect/certs',
  },
  'Amazon Cognito': {
    issuer: 'https://cognito-idp.YOUR-REGION.amazonaws.com/YOUR-POOL',
    jwks: 'https://cognito-idp.YOUR-REGION.amazonaws.com/YOUR-POOL/.well-known/jwks.json',
  },
}

const samplePredicate =
  'Query(Lambda("ref", Equals(Select(["data", "owner"], Get(Var("ref"))), Select("sub", CurrentToken()))))'

export function AccessProviders({ path: [name] }: { readonly path: readonly string[] }) {
  if (name === undefined) return <ProviderList />
  return (
    <SchemaPage
      native="access_providers"
      singular="access provider"
      id={name}
      deleteWarning="The service then rejects the tokens of this provider."
    >
      {document => (
        <>
          <p>
            Configure the provider to issue tokens with this audience (aud):{' '}
            <code>{textAt(document, 'audience')}</code>{' '}
            <CopyButton text={textAt(document, 'audience') ?? ''} />
          </p>
          <details>
            <summary>Example: a role for the users of this provider</summary>
            <p class="hint">
              A program sends the token of the provider as its secret. A predicate of a role can read the
              claims of the token. This predicate grants access to the documents whose owner is the user (sub)
              of the token.
            </p>
            <pre class="drawn">{samplePredicate}</pre>
            <CopyButton text={samplePredicate} />
          </details>
        </>
      )}
    </SchemaPage>
  )
}

function ProviderList() {
  return (
    <>
      <Heading title="Access providers">
        <CreateButton text="Create access provider" isAllowed={rights.value.administers} form={NewProvider} />
      </Heading>
      <SchemaList
        native="access_providers"
        label="Access providers"
        columns={columns}
        whenEmpty="There are no access providers. Create one so that users of Auth0, Keycloak or a similar service can use this database with their tokens."
      />
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
    go(addressOf(['access-providers', name]))
  }
  const isFilled = [name, issuer, jwks].every(text => text !== '' && !text.includes('YOUR-'))
  return (
    <FormDialog
      title="Create access provider"
      submit="Create"
      isReady={isFilled}
      onClose={onClose}
      onSubmit={create}
    >
      <NameField value={name} onInput={setName} hint="The name that queries and roles use, such as auth0." />
      <Choice
        label="Template"
        value=""
        options={[['', 'Choose…'], ...optionsOf(Object.keys(samples))]}
        onChange={chosenSample => {
          const sample = samples[chosenSample]
          if (!sample) return
          setIssuer(sample.issuer)
          setJwks(sample.jwks)
        }}
        hint="Fills in issuer and JWKS URI. Replace the parts that begin with YOUR-."
      />
      <Field
        label="Issuer"
        value={issuer}
        onInput={setIssuer}
        isRequired
        placeholder="https://example.eu.auth0.com/"
        hint="The exact value of iss in the tokens, including a slash at the end."
      />
      <Field
        label="JWKS URI"
        value={jwks}
        onInput={setJwks}
        isRequired
        hint="The service reads the signing keys of the provider from this address."
        placeholder="https://example.eu.auth0.com/.well-known/jwks.json"
      />
      <fieldset>
        <legend>Roles of the users</legend>
        {(roles.data ?? []).map(each => (
          <div key={each}>
            <Check
              label={<bdi>{each}</bdi>}
              isOn={chosen.includes(each)}
              onChange={isOn => setChosen(isOn ? [...chosen, each] : chosen.filter(other => other !== each))}
            />
          </div>
        ))}
        {roles.data?.length === 0 && (
          <p class="hint">
            There are no roles yet. Without a role, users of this provider have no rights. Create a role
            first, or choose one later.
          </p>
        )}
      </fieldset>
    </FormDialog>
  )
}
