// Connection details for a new secret: environment variables, and code for each client. The address is the origin of
// this page, because the service serves this page.

import { useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy.tsx'
import { Choice } from '../parts/fields.tsx'

/** Code for clients reads the secret from the environment, so that source files contain no secret. */
const snippets = {
  environment: [
    'Environment variables',
    (url, secret) => `TERRARIUM_URL=${url}\nTERRARIUM_SECRET=${secret}\n`,
  ],
  client: [
    'terrarium-client (version 10)',
    () => `import { Client, fql } from 'terrarium-client'

const client = new Client({
  url: process.env.TERRARIUM_URL,
  secret: process.env.TERRARIUM_SECRET,
})
const { data } = await client.query(fql\`1 + \${1}\`)
`,
  ],
  fauna: [
    'Driver fauna (version 10)',
    () => `import { Client, fql } from 'fauna'

const client = new Client({
  endpoint: new URL(process.env.TERRARIUM_URL),
  secret: process.env.TERRARIUM_SECRET,
})
const { data } = await client.query(fql\`1 + \${1}\`)
`,
  ],
  faunadb: [
    'Driver faunadb (version 4)',
    () => `import faunadb from 'faunadb'

const { hostname, port, protocol } = new URL(process.env.TERRARIUM_URL)
const client = new faunadb.Client({
  domain: hostname,
  scheme: protocol.replace(':', ''),
  ...(port && { port: Number(port) }),
  secret: process.env.TERRARIUM_SECRET,
})
const data = await client.query(faunadb.query.Add(1, 1))
`,
  ],
  curl10: [
    'curl (version 10)',
    () =>
      `curl "$TERRARIUM_URL/query/1" -H "Authorization: Bearer $TERRARIUM_SECRET" -d '{"query": "1 + 1"}'\n`,
  ],
  curl4: [
    'curl (version 4)',
    () => `curl "$TERRARIUM_URL" -H "Authorization: Bearer $TERRARIUM_SECRET" -d '{"add": [1, 1]}'\n`,
  ],
} as const satisfies Readonly<
  Record<string, readonly [name: string, text: (url: string, secret: string) => string]>
>

type Snippet = keyof typeof snippets

const options = (Object.keys(snippets) as Snippet[]).map(name => [name, snippets[name][0]] as const)

export function Connect({ secret }: { readonly secret: string }) {
  const [shown, setShown] = useState<Snippet>('environment')
  const text = snippets[shown][1](location.origin, secret)
  return (
    <section aria-label="Connect">
      <Choice
        label="Connect with"
        value={shown}
        onChange={setShown}
        options={options}
        hint="The code reads the address and the secret from environment variables."
      />
      {/* `tabIndex` lets the keyboard scroll long lines. */}
      <pre class="drawn" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} label="Copy code" />
    </section>
  )
}
