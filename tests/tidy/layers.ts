// Which folder of `src` may import which others, bottom to top. A folder may always import itself; `base`,
// `errors.ts` and `limits.ts` are open to everything above them and not repeated. `import type` counts too. A folder
// within a folder that is named here is a layer of its own, and no longer part of the outer one.

/** Open to all: they know nothing of the layers. */
export const open = ['base', 'errors.ts', 'limits.ts'] as const

export const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  'errors.ts': [],
  'limits.ts': [],
  values: [],
  'v4/text': ['values'],
  'v4/values': ['values'],
  'v4/wire': ['v4/values', 'values'],
  text: ['values'],
  keys: ['values'],
  kv: [],
  store: ['kv', 'keys', 'values'],
  auth: ['store', 'values'],
  model: ['auth', 'store', 'values'],
  v4: ['v4/wire', 'v4/values', 'model', 'auth', 'store', 'text', 'values'],
  'v10/text': [],
  'v10/wire': ['values'],
  v10: ['v10/text', 'v10/wire', 'model', 'auth', 'keys', 'text', 'values'],
  'query-log': ['kv', 'keys', 'values'],
  operation: ['kv', 'values'],
  engine: ['model', 'auth', 'store', 'values'],
  transfer: ['engine', 'store', 'keys', 'v4/text', 'v4/wire', 'v10/wire', 'v10', 'values'],
  streams: ['engine', 'model', 'auth', 'store', 'values'],
  'slow-lane': ['engine', 'store', 'values'],
  http: ['transfer', 'engine', 'v4/wire', 'v10/wire', 'query-log', 'operation', 'values'],
  metrics: ['http'],
  config: [],
  'service-log.ts': [],
  'data-folder.ts': ['config', 'query-log', 'kv'],
  'languages.ts': ['v4', 'v10', 'model'],
  'open-query-log.ts': ['config', 'query-log', 'languages.ts', 'kv'],
  'open-store.ts': ['config', 'store', 'kv'],
  'open-slow-lane.ts': ['slow-lane', 'config', 'store'],
  'open-engine.ts': [
    'open-slow-lane.ts',
    'open-store.ts',
    'config',
    'transfer',
    'slow-lane',
    'streams',
    'engine',
    'query-log',
    'languages.ts',
    'model',
    'auth',
    'store',
    'kv',
    'values',
  ],
  'server.ts': ['open-engine.ts', 'open-query-log.ts', 'config', 'http', 'metrics', 'operation', 'query-log'],
  'index.ts': ['server.ts', 'open-engine.ts', 'data-folder.ts', 'service-log.ts', 'config', 'kv'],
  'slow-lane-main.ts': ['open-engine.ts', 'open-slow-lane.ts', 'service-log.ts', 'slow-lane'],
  cli: [
    'server.ts',
    'open-engine.ts',
    'open-store.ts',
    'open-query-log.ts',
    'data-folder.ts',
    'service-log.ts',
    'config',
    'http',
    'metrics',
    'transfer',
    'operation',
    'query-log',
    'auth',
    'store',
    'kv',
    'keys',
    'v4/text',
    'v10',
    'values',
  ],
}

/** The layer of a file: the longest beginning of its path below `src/` that is one, else the first step. */
export function layerOf(path: string): string {
  const steps = path.split('/').slice(1)
  for (let count = steps.length; count > 1; count--) {
    const layer = steps.slice(0, count).join('/')
    if (layer in layers) return layer
  }
  return steps[0] ?? ''
}
