// The response to a browser's CORS preflight: requests are allowed from every page. The secret decides about access,
// not the page.

import { secondsPerDay } from '../../../base/micros.ts'
import type { Answer } from '../answer.ts'

const allowedHeaders = [
  'accept-encoding',
  'authorization',
  'content-type',
  'x-driver-env',
  'x-faunadb-api-version',
  'x-fauna-driver',
  'x-fauna-source',
  'x-fauna-tags',
  'x-format',
  'x-last-seen-txn',
  'x-last-txn-ts',
  'x-linearized',
  'x-max-contention-retries',
  'x-max-retries-on-contention',
  'x-query-tags',
  'x-query-timeout',
  'x-query-timeout-ms',
  'x-runtime-environment',
  'x-runtime-environment-os',
  'x-nodejs-version',
  'traceparent',
  'x-typecheck',
  'x-performance-hints',
]

/** The response is the same for every path; the edge adds the origin. */
export const preflightAnswer: Answer = {
  status: 200,
  body: '',
  headers: [
    'access-control-max-age',
    String(secondsPerDay),
    'access-control-allow-methods',
    'GET, POST, PUT, PATCH, DELETE',
    'access-control-allow-headers',
    allowedHeaders.join(', '),
  ],
}
