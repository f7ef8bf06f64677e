// Static files of the dashboard under `/dashboard/`. They contain no data, so requests need no credential. The page
// requests its data from the public API, with the secret that the user enters.

import { Readable } from 'node:stream'
import type { Answer } from '../answer.ts'
import type { DashboardFiles, StaticFile } from '../dashboard-files.ts'
import type { Endpoint, EndpointCall } from '../endpoint.ts'
import type { Exchange } from '../exchange.ts'
import { pathOf } from '../url.ts'

const base = '/dashboard/'

/**
 * Only scripts of the service may run, and scripts may connect only to the service. Trusted Types block every
 * conversion of text to markup or code; their only policy allows the dashboard to start its own worker.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types worker',
].join('; ')

const securityHeaders = [
  ...['content-security-policy', contentSecurityPolicy],
  ...['x-content-type-options', 'nosniff'],
  ...['referrer-policy', 'no-referrer'],
  ...['cross-origin-opener-policy', 'same-origin'],
]

const yearSeconds = 31_536_000

/** Files and pages, and a redirect from the path without a slash. */
export function dashboardEndpoints(files: DashboardFiles): readonly Endpoint[] {
  const serve = (call: EndpointCall) => fileAnswer(call, files)
  const redirect = () => redirection()
  return [
    { path: `${base}*`, methods: { GET: serve, HEAD: serve } },
    { path: base.slice(0, -1), methods: { GET: redirect, HEAD: redirect } },
  ]
}

/** True for a request for `/` that accepts HTML: a browser opens the address of the service. */
export function isBrowserVisit({ method, url, headers }: Exchange): boolean {
  return method === 'GET' && url === '/' && headers.accept?.includes('text/html') === true
}

/** Redirects a browser from `/` to the dashboard. */
export const visitEndpoint: Endpoint = {
  path: '/',
  methods: { GET: () => redirection() },
}

function redirection(): Answer {
  return plain(303, '', ['location', base, 'vary', 'accept', 'cache-control', 'no-store'])
}

/**
 * Without a file at the path, a path below `assets/` gets 404. All other paths are pages of the dashboard and get
 * `index.html`.
 */
function fileAnswer(call: EndpointCall, files: DashboardFiles): Answer {
  const path = pathOf(call.request.url).slice(base.length)
  const file = files.get(path)
  if (file !== undefined) return send(call, file)
  if (path.startsWith('assets/')) return plain(404, 'There is no such file.\n', ['cache-control', 'no-store'])
  return send(call, files.get('index.html') as StaticFile)
}

function send(call: EndpointCall, file: StaticFile): Answer {
  const accepted = String(call.request.headers['accept-encoding'] ?? '')
  const [encoding, content] = encodingOf(file, accepted)
  const headers = [
    ...securityHeaders,
    ...['content-length', String(content.length)],
    ...['cache-control', file.isHashed ? `public, max-age=${yearSeconds}, immutable` : 'no-cache'],
    ...['vary', 'accept-encoding'],
  ]
  if (encoding !== undefined) headers.push('content-encoding', encoding)
  return { ...plain(200, Readable.from([content]), headers), contentType: file.contentType }
}

function encodingOf({ content, gzip, brotli }: StaticFile, accepted: string): [string | undefined, Buffer] {
  if (brotli !== undefined && /\bbr\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted)) return ['br', brotli]
  if (gzip !== undefined && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(accepted)) return ['gzip', gzip]
  return [undefined, content]
}

function plain(status: number, body: Answer['body'], headers: readonly string[]): Answer {
  return {
    status,
    body,
    contentType: 'text/plain;charset=utf-8',
    headers,
  }
}
