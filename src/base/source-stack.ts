// Maps positions in stack traces to the sources, for a bundled program. Node has an option for that, but it reads all
// source maps at start, which takes as long as loading the program. This module reads a map when an error is logged.

import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { home, isBuilt } from './program-files.ts'

const maps = new Map<string, SourceMap | undefined>()

function mapOf(file: string): SourceMap | undefined {
  if (maps.has(file)) return maps.get(file)
  const path = `${file}.map`
  const map = existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, 'utf8'))) : undefined
  maps.set(file, map)
  return map
}

/** A stack trace with source positions, such as `src/fql4/parse.ts:10:5`, where these are known. */
export function sourceStack(stack: string): string {
  if (!isBuilt) return stack
  return stack.replace(/file:\/\/\/\S+?\.js(?=:\d+:\d+)[:\d]+/g, place => {
    const [, url = '', line, column] = /^(.*\.js):(\d+):(\d+)$/.exec(place) ?? []
    if (!url.startsWith(home.href)) return place
    const file = fileURLToPath(url)
    const origin = mapOf(file)?.findOrigin(Number(line), Number(column))
    if (origin === undefined || !('fileName' in origin)) return place
    const source = fileURLToPath(new URL(origin.fileName, url))
    return `${relative(fileURLToPath(home), source)}:${origin.lineNumber}:${origin.columnNumber}`
  })
}
