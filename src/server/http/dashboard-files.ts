// Reads the built files of the dashboard at start. The build creates compressed variants of most files.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Logger } from 'pino'
import { ifPresent } from '../../base/if-present.ts'

export interface StaticFile {
  readonly contentType: string
  readonly content: Buffer
  readonly gzip: Buffer | undefined
  readonly brotli: Buffer | undefined
  /** The name contains a hash of the content, so the file may be cached forever. */
  readonly isHashed: boolean
}

/** Files by path below `/dashboard/`; the page itself is `index.html`. */
export type DashboardFiles = ReadonlyMap<string, StaticFile>

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html;charset=utf-8',
  '.js': 'text/javascript;charset=utf-8',
  '.css': 'text/css;charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/**
 * If the files have not been built, returns undefined and writes a warning to `log`. Only one process of the service
 * passes a log, so that the warning appears once.
 */
export function openDashboard(
  folder: string,
  log: Pick<Logger, 'warn'> | undefined,
): DashboardFiles | undefined {
  if (!existsSync(join(folder, 'index.html'))) {
    log?.warn({ folder }, 'the dashboard has not been built: run `npm ci` without `--omit=dev`')
    return undefined
  }
  const files = new Map<string, StaticFile>()
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const contentType = contentTypes[extname(name)]
    if (contentType === undefined || !statSync(join(folder, name)).isFile()) continue
    const path = name.replaceAll('\\', '/')
    files.set(path, {
      contentType,
      content: readFileSync(join(folder, name)),
      gzip: ifPresent(() => readFileSync(join(folder, `${name}.gz`))),
      brotli: ifPresent(() => readFileSync(join(folder, `${name}.br`))),
      isHashed: path.startsWith('assets/'),
    })
  }
  return files
}
