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
  keys: ['values'],
  kv: [],
  store: ['kv', 'keys', 'values'],
  auth: ['store', 'values'],
  query: ['auth', 'store', 'values'],
  'query-log': ['kv', 'store', 'values'],
  engine: ['query-log', 'query', 'auth', 'store', 'values'],
  transfer: ['engine', 'store', 'keys', 'fql', 'values'],
  streams: ['engine', 'query', 'auth', 'store', 'values'],
  http: ['transfer', 'streams', 'engine', 'query-log', 'auth', 'values'],
  metrics: ['http'],
  'config.ts': [],
  'open-query-log.ts': ['config.ts', 'query-log', 'query', 'kv', 'values'],
  'server.ts': [
    'open-query-log.ts',
    'config.ts',
    'http',
    'metrics',
    'transfer',
    'streams',
    'engine',
    'query-log',
    'values',
  ],
  'open-store.ts': ['config.ts', 'store', 'kv'],
  'open-engine.ts': [
    'open-store.ts',
    'server.ts',
    'config.ts',
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
  'index.ts': ['open-engine.ts', 'server.ts', 'config.ts', 'kv'],
  cli: [
    'open-query-log.ts',
    'open-store.ts',
    'open-engine.ts',
    'server.ts',
    'config.ts',
    'http',
    'metrics',
    'transfer',
    'engine',
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
