// Endpoints for schema files of version 10: all paths below `/schema/1`. This file parses paths, parameters and bodies;
// fql10/schema/push interprets them.

import { Message, msg } from '../../../base/message.ts'
import {
  type SchemaRequest,
  schemaErrorBody,
  schemaOptions,
  schemaRequestErrorBody,
  schemaRequestText,
} from '../../../fql10/wire/schema-request.ts'
import { type Answer, jsonType } from '../answer.ts'
import type { Endpoint, EndpointCall, Services } from '../endpoint.ts'
import type { Protocol } from '../protocol.ts'
import { parametersOf, pathOf } from '../url.ts'
import { version10Protocol } from '../version10-headers.ts'

const schemaLimits = {
  /** Maximum number of schema files in one request, including `main.fsl`. */
  schemaFilesMax: 1024,
} as const

const protocol: Protocol = {
  ...version10Protocol,
  readSettings(headers) {
    const settings = version10Protocol.readSettings(headers)
    if (settings instanceof Message) return settings
    const { typecheck } = settings.options ?? {}
    return { ...settings, options: { ...schemaOptions, ...(typecheck !== undefined && { typecheck }) } }
  },
  errorBody: schemaRequestErrorBody,
  errorCode: () => '',
}

/** The message is for the client. */
class BadBody {
  readonly message: Message
  constructor(message: Message) {
    this.message = message
  }
}

export function schemaEndpoints({ engine }: Services): readonly Endpoint[] {
  const answer = async (call: EndpointCall): Promise<Answer> => {
    try {
      const request = call.queryRequest(schemaRequestText(await readRequest(call)))
      return await engine.query(request, call.ticket)
    } catch (error) {
      if (!(error instanceof BadBody)) throw error
      const { message } = error
      const fault = { code: '', text: message, position: msg`` }
      return { status: 400, body: schemaErrorBody(String(message)), contentType: jsonType, fault }
    }
  }
  return ['/schema/1', '/schema/1/*'].map(path => ({
    path,
    protocol,
    authenticated: true,
    readsBody: true,
    recorded: true,
    // The language decides which methods a path has, and reports a wrong method only to authorized callers.
    methods: { GET: answer, POST: answer, DELETE: answer },
    otherMethods: answer,
  }))
}

async function readRequest(call: EndpointCall): Promise<SchemaRequest> {
  const { body = '', request } = call
  const { headers, method, url } = request
  // The query log computes a query shape from `call.body`; schema files are not a query.
  call.body = undefined
  const [, , , ...path] = pathOf(url).split('/').map(decodePart)
  const parameters = Object.fromEntries(parametersOf(url))
  const contentType = headers['content-type'] ?? ''
  const isForm = contentType.toLowerCase().startsWith('multipart/')
  const files = isForm ? await filesOf(body, contentType) : []
  return { method, path, parameters, files, text: isForm ? '' : body }
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A form field with the name of the file contains its text. Throws {@link BadBody}. */
async function filesOf(body: string, contentType: string): Promise<SchemaRequest['files']> {
  if (!/boundary\s*=\s*"?[^\s";]/i.test(contentType)) {
    throw new BadBody(msg`Request is not a valid multipart request`)
  }
  let form: FormData
  try {
    form = await new Response(Buffer.from(body), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw new BadBody(msg`Invalid request`)
  }
  const files: { name: string; text: string }[] = []
  for (const [name, part] of form) {
    if (!name.endsWith('.fsl') || name.startsWith('*')) throw new BadBody(msg`Invalid filename \`${name}\``)
    files.push({ name, text: typeof part === 'string' ? part : await part.text() })
  }
  const others = files.filter(({ name }) => name !== 'main.fsl').length
  if (others > schemaLimits.schemaFilesMax - 1) throw new BadBody(msg`Too many files`)
  return files
}
