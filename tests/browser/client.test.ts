// Runs the application flows with the client in a page of Chromium, whose origin is not the origin of the service.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { build } from 'vite'
import { flows } from '../client/app-flows.ts'
import type { FlowConfig } from '../client/flows.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { pageOfFile, skip } from './chromium.ts'

const opened = pageOfFile()
let databases = 0

/** The client and the flows as one script for a page. */
async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      lib: { entry: join(import.meta.dirname, 'flows-page.ts'), formats: ['iife'], name: 'flows' },
    },
  })
  const [output] = Array.isArray(built) ? built : [built]
  assert.ok(output && 'output' in output)
  return output.output[0].code
}

before(async () => {
  if (skip) return
  await opened.page.addScriptTag({ content: await bundle() })
})

for (const [name, { expected }] of Object.entries(flows)) {
  test(`in a page: ${name}`, { skip, timeout: patience(60_000) }, async () => {
    databases += 1
    const secret = await keyOfNewDatabase(opened.server, `app_${databases}`, 'admin')
    const seen = await opened.page.evaluate(
      ([flow, config]) => globalThis.runFlow(flow as string, config as FlowConfig),
      [name, { url: opened.server.url, secret }] as const,
    )
    assert.deepEqual(JSON.parse(seen), expected)
  })
}
