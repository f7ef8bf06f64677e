// The layers of `src` from bottom to top, and the folders that each may import. A folder may always import itself and
// `base`, which is not repeated. `import type` counts, too. A subfolder that is listed here is a separate layer and not
// part of the outer folder.

/** Every layer may import these, because they import no layer. */
export const open = ['base'] as const

export const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  values: [],
  'fql4/text': ['values'],
  'fql4/values': ['values'],
  'fql4/wire': ['fql4/values', 'values'],
  text: ['values'],
  'storage/keys': ['values'],
  'storage/kv': [],
  'storage/store': ['storage/kv', 'storage/keys', 'values'],
  backup: ['storage/store', 'storage/kv', 'storage/keys', 'values'],
  'model/auth': ['storage/store', 'values'],
  model: ['model/auth', 'storage/store', 'values'],
  fql4: ['fql4/wire', 'fql4/values', 'model', 'model/auth', 'storage/store', 'text', 'values'],
  'fql10/text': [],
  'fql10/wire': ['values'],
  fql10: ['fql10/text', 'fql10/wire', 'model', 'model/auth', 'storage/keys', 'text', 'values'],
  'query-log': ['storage/kv', 'storage/keys', 'values'],
  'server/operation': ['backup', 'storage/kv', 'values'],
  engine: ['model', 'model/auth', 'storage/store', 'values'],
  transfer: [
    'engine',
    'storage/store',
    'storage/keys',
    'fql4/text',
    'fql4/wire',
    'fql10/wire',
    'fql10',
    'values',
  ],
  'engine/streams': ['engine', 'model', 'model/auth', 'storage/store', 'values'],
  'engine/slow-lane': ['engine', 'storage/store', 'values'],
  'server/http': ['transfer', 'engine', 'fql4/wire', 'fql10/wire', 'query-log', 'server/operation', 'values'],
  'server/metrics': ['server/http'],
  'app/config': [],
  'server/service-log.ts': [],
  'app/data-folder.ts': ['app/config', 'query-log', 'storage/kv'],
  'app/languages.ts': ['fql4', 'fql10', 'model'],
  'app/open-query-log.ts': ['app/config', 'query-log', 'app/languages.ts', 'storage/kv'],
  'app/open-backup.ts': ['backup', 'storage/kv'],
  'app/backup-main.ts': ['backup', 'server/service-log.ts'],
  'app/open-store.ts': ['app/open-backup.ts', 'app/config', 'storage/store', 'storage/kv'],
  'app/forwarding.ts': ['transfer', 'engine', 'storage/store', 'storage/kv', 'values'],
  'app/open-slow-lane.ts': ['engine/slow-lane', 'app/config', 'storage/store'],
  'app/open-engine.ts': [
    'app/forwarding.ts',
    'app/open-slow-lane.ts',
    'app/open-store.ts',
    'app/config',
    'transfer',
    'engine/slow-lane',
    'engine/streams',
    'engine',
    'query-log',
    'app/languages.ts',
    'model',
    'model/auth',
    'storage/store',
    'storage/kv',
    'values',
  ],
  'app/server.ts': [
    'app/open-engine.ts',
    'app/open-query-log.ts',
    'app/config',
    'backup',
    'server/http',
    'server/metrics',
    'server/operation',
    'query-log',
  ],
  'app/index.ts': [
    'app/server.ts',
    'app/open-engine.ts',
    'app/data-folder.ts',
    'server/service-log.ts',
    'app/config',
    'storage/kv',
  ],
  'app/slow-lane-main.ts': [
    'app/open-engine.ts',
    'app/open-slow-lane.ts',
    'server/service-log.ts',
    'engine/slow-lane',
  ],
  cli: [
    'app/server.ts',
    'app/open-engine.ts',
    'app/forwarding.ts',
    'app/open-store.ts',
    'app/open-query-log.ts',
    'app/data-folder.ts',
    'server/service-log.ts',
    'app/config',
    'backup',
    'server/http',
    'server/metrics',
    'transfer',
    'server/operation',
    'query-log',
    'model/auth',
    'storage/store',
    'storage/kv',
    'storage/keys',
    'fql4/text',
    'fql10',
    'values',
  ],
}

/** The layer of a file: the longest prefix of its path below `src/` that is a layer, else the first folder. */
export function layerOf(path: string): string {
  const steps = path.split('/').slice(1)
  for (let count = steps.length; count > 1; count--) {
    const layer = steps.slice(0, count).join('/')
    if (layer in layers) return layer
  }
  return steps[0] ?? ''
}
