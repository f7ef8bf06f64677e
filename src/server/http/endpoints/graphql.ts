// Endpoints of GraphQL: operations and imports of schemas. The texts about credentials are part of the protocol, so
// these endpoints check the form of the header before the engine checks the secret.

import { msg, own } from '../../../base/message.ts'
import { RequestError } from '../../../base/request-errors.ts'
import type { Engine } from '../../../engine/engine-contract.ts'
import { credentialTexts } from '../../../graphql/wire/errors.ts'
import {
  generatedTextOptions,
  importModes,
  importOptions,
  schemaTextOptions,
} from '../../../graphql/wire/import-options.ts'
import type { Answer } from '../answer.ts'
import type { Endpoint, EndpointCall, Handler, Services } from '../endpoint.ts'
import { graphqlProtocol, importProtocol, secretIn, textType } from '../graphql-headers.ts'
import { requestBodyLimits } from '../request-body.ts'
import { parametersOf, queryParameter } from '../url.ts'

const longTextFault = msg`A body of type application/graphql must not exceed ${own(requestBodyLimits.shortBodyBytes)} bytes. Send a longer operation as JSON.`
const inGetRequests = { readOnlyPlace: 'get requests' } as const

const traits = {
  authenticated: true,
  readsBody: true,
  recorded: true,
  allowedHeaders: ['x-schema-preview'],
} as const

export function graphqlEndpoints({ engine }: Services): readonly Endpoint[] {
  const run: Handler = async call => {
    const fault = credentialFault(call)
    if (fault !== undefined) return unauthorizedAnswer(fault)
    const isRead = call.request.method === 'GET'
    const answer = await engine.query(
      call.queryRequest(call.body, isRead ? inGetRequests : undefined),
      call.ticket,
    )
    // Clients parse only the errors of responses with status 200.
    return answer.requestError === 'unauthorized' ? { ...answer, status: 200 } : answer
  }
  const withText =
    (handle: (call: EndpointCall, engine: Engine) => Promise<Answer>) => async (call: EndpointCall) => {
      const fault = credentialFault(call)
      if (fault !== undefined)
        return { ...unauthorizedAnswer(fault), status: 401, body: fault, contentType: textType }
      return { ...(await handle(call, engine)), contentType: textType }
    }
  return [
    {
      ...traits,
      takesLongBodies: true,
      path: graphqlProtocol.queryPath,
      protocol: graphqlProtocol,
      methods: {
        GET: call => {
          call.body = bodyOfGet(call)
          return call.body === undefined ? usage() : run(call)
        },
        POST: call => {
          const type = call.request.headers['content-type'] ?? ''
          if (type.startsWith('application/graphql') && !type.includes('json')) {
            // The slow lane receives long bodies unparsed, as JSON.
            if (call.longBody !== undefined) throw new RequestError('request too large', longTextFault)
            if (call.body !== undefined) call.body = JSON.stringify({ query: call.body })
          }
          return run(call)
        },
      },
    },
    {
      ...traits,
      path: importProtocol.queryPath,
      protocol: importProtocol,
      methods: { GET: withText(readSchema), POST: withText(importSchema) },
    },
  ]
}

/** Returns undefined if the engine can check the secret. */
function credentialFault({ request }: EndpointCall): string | undefined {
  const { authorization } = request.headers
  if (authorization === undefined) return credentialTexts.missing
  return secretIn(authorization) === undefined ? credentialTexts.malformed : undefined
}

function unauthorizedAnswer(message: string): Answer {
  return {
    status: 200,
    body: JSON.stringify({ errors: [{ message }] }),
    requestError: 'unauthorized',
    fault: {
      code: 'unauthorized',
      text: msg`The authorization header is missing or malformed.`,
      position: msg``,
    },
  }
}

/** The operation in the parameters of the URL, if any. */
function bodyOfGet({ request }: EndpointCall): string | undefined {
  const { query, variables, operationName } = Object.fromEntries(parametersOf(request.url))
  if (query === undefined) return undefined
  const given = variables === undefined || variables === '' ? 'null' : variables
  return `{"query":${JSON.stringify(query)},"operationName":${JSON.stringify(operationName ?? null)},"variables":${given}}`
}

/** Answers a visit with a browser. */
function usage(): Answer {
  const text =
    'This is the GraphQL endpoint. Send operations with POST, as JSON with the member "query", and with a secret in the header "Authorization".\nThe command "terrarium graphql import" imports a schema, and the dashboard at /dashboard/ shows the data.\n'
  return { status: 200, body: text, contentType: textType }
}

/** The imported schema, or the generated schema with the parameter `schema=generated`. */
async function readSchema(call: EndpointCall, engine: Engine): Promise<Answer> {
  const isGenerated = queryParameter(call.request.url, 'schema') === 'generated'
  const options = isGenerated ? generatedTextOptions : schemaTextOptions
  return engine.query({ ...call.queryRequest(undefined), options }, call.ticket)
}

async function importSchema(call: EndpointCall, engine: Engine): Promise<Answer> {
  const { body = '' } = call
  // The query log computes a query shape from `call.body`; a schema is not a query.
  call.body = undefined
  const mode = queryParameter(call.request.url, 'mode') ?? importModes[0]
  const answer = await engine.query({ ...call.queryRequest(body), options: importOptions(mode) }, call.ticket)
  return answer.status === 200 ? { ...answer, body: successText(call) } : answer
}

function successText({ request }: EndpointCall): string {
  const secret = secretIn(request.headers.authorization ?? '') ?? ''
  return `Schema imported successfully.\nUse the following HTTP header to connect to the FaunaDB GraphQL API:\n\n{ "Authorization": "Bearer ${secret}" }\n`
}
