// Which folder of `src` may import which others, bottom to top. A folder may always import itself; `base`,
// `errors.ts` and `limits.ts` are open to everything above them and not repeated. `import type` counts too.

/** Open to all: they know nothing of the layers. */
export const open = ['base', 'errors.ts', 'limits.ts'] as const

export const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  'errors.ts': [],
  'limits.ts': [],
  values: [],
  fql: ['values'],
  text: ['values'],
  keys: ['values'],
  kv: [],
  store: ['kv', 'keys', 'values'],
  auth: ['store', 'values'],
  query: ['auth', 'store', 'text', 'values'],
  'query-log': ['kv', 'keys', 'values'],
  engine: ['query', 'auth', 'store', 'values'],
  transfer: ['engine', 'store', 'keys', 'fql', 'values'],
  streams: ['engine', 'query', 'auth', 'store', 'values'],
  'slow-lane': ['engine', 'store', 'values'],
  http: ['transfer', 'engine', 'query-log', 'values'],
  metrics: ['http'],
  config: [],
  'service-log.ts': [],
  'open-query-log.ts': ['config', 'query-log', 'query', 'kv'],
  'open-store.ts': ['config', 'store', 'kv'],
  'open-slow-lane.ts': ['slow-lane', 'config', 'store'],
  'open-engine.ts': [
    'open-slow-lane.ts',
    'open-store.ts',
    'config',
    'transfer',
    'streams',
    'engine',
    'query-log',
    'query',
    'auth',
    'store',
    'kv',
    'values',
  ],
  'server.ts': ['open-engine.ts', 'open-query-log.ts', 'config', 'http', 'metrics', 'query-log'],
  'index.ts': ['server.ts', 'open-engine.ts', 'service-log.ts', 'config', 'kv'],
  'slow-lane-main.ts': ['open-engine.ts', 'open-slow-lane.ts', 'service-log.ts', 'slow-lane'],
  cli: [
    'server.ts',
    'open-engine.ts',
    'open-store.ts',
    'open-query-log.ts',
    'service-log.ts',
    'config',
    'http',
    'metrics',
    'transfer',
    'query-log',
    'auth',
    'store',
    'kv',
    'keys',
    'fql',
    'values',
  ],
}

/** The layer of a file: the first step of its path below `src/`. */
export function layerOf(path: string): string {
  return path.split('/')[1] ?? ''
}
