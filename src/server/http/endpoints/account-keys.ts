// Account keys over HTTP, only for the root secret: `POST /api/v1/account-keys` creates a key, `GET` lists the keys,
// `DELETE /api/v1/account-keys/{id}` revokes a key.

import { limits } from '../../../base/limits.ts'
import { type AccountKey, NameConflict } from '../../../query-log/account-keys.ts'
import type { QueryLog } from '../../../query-log/query-log.ts'
import { type Answer, jsonAnswer } from '../answer.ts'
import { ApiError, badRequest, isoTime } from '../api.ts'
import type { Endpoint, EndpointCall, Handler, LogServices } from '../endpoint.ts'
import { bodyOf, checkRegionGroup, integerField, logClient, logTraits, textField } from '../log-request.ts'

const accountKeysLimits = {
  /** Maximum number of characters of the name of an account key; own limit. */
  accountKeyNameCharsMax: 200,
} as const

const path = '/api/v1/account-keys'

export function accountKeyEndpoints(services: LogServices): readonly Endpoint[] {
  const { queryLog } = services
  // Accepts only bearer credentials, like all endpoints of the query log.
  const withRoot = (handle: Handler) => async (call: EndpointCall) => {
    const { isRoot } = await logClient(call, services)
    if (!isRoot) throw new ApiError('forbidden', 'Account keys need the root secret.')
    return handle(call)
  }
  return [
    {
      ...logTraits,
      path,
      readsBody: true,
      methods: {
        GET: withRoot(() => jsonAnswer(200, { results: queryLog.accountKeys.list().map(describe) })),
        POST: withRoot(call => create(call, queryLog)),
      },
    },
    { ...logTraits, path: `${path}/:id`, methods: { DELETE: withRoot(call => revoke(call, queryLog)) } },
  ]
}

async function create(call: EndpointCall, queryLog: QueryLog): Promise<Answer> {
  const fields = bodyOf(call)
  const name = textField(fields, 'name')
  if (name === undefined || name.length > accountKeysLimits.accountKeyNameCharsMax)
    throw badRequest('"name" has to be a short text')
  const ttlDays = integerField(fields, 'ttl_days', 1, limits.accountKeyDaysMax)
  const regionGroups = fields.region_groups ?? undefined
  if (regionGroups !== undefined && !isListOfTexts(regionGroups)) {
    throw badRequest('"region_groups" has to be a list of region groups')
  }
  for (const group of regionGroups ?? []) checkRegionGroup(group, queryLog.regionGroup)
  try {
    const { key, secret } = await queryLog.accountKeys.create({
      name,
      ...(ttlDays !== undefined && { ttlDays }),
      ...(regionGroups !== undefined && { regionGroups }),
    })
    return jsonAnswer(201, { ...describe(key), secret })
  } catch (error) {
    if (error instanceof NameConflict) throw new ApiError('conflict', 'There is an account key of that name.')
    throw error
  }
}

async function revoke(call: EndpointCall, queryLog: QueryLog): Promise<Answer> {
  const { id } = call.parameters
  if (!(await queryLog.accountKeys.revoke(id as string))) {
    throw new ApiError('not found', 'There is no account key with that id.')
  }
  return jsonAnswer(200, { id, revoked: true })
}

function describe({ id, name, createdAt, expiresAt, regionGroups }: AccountKey): object {
  return {
    id,
    name,
    created_at: isoTime(createdAt),
    expires_at: expiresAt === undefined ? null : isoTime(expiresAt),
    region_groups: regionGroups ?? null,
  }
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every(item => typeof item === 'string')
}
