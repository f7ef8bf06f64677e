// Dashboard, alert rules and manifests in `deploy/` only name metrics and settings that exist.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { variableOf } from '../../src/app/config/read-config.ts'
import { settings } from '../../src/app/config/settings.ts'
import { RequestMeter } from '../../src/server/http/request-meter.ts'
import { createRegistry } from '../../src/server/metrics/registry.ts'
import { startServer } from '../support/server.ts'
import { files, read } from '../tidy/sources.ts'

/** The names of all series of a node. */
async function servedNames(): Promise<ReadonlySet<string>> {
  const meter = new RequestMeter()
  meter.statuses[200] = 1
  const status = () => ({ fault: undefined, lagMs: 0, behind: 0 })
  const applyLag = () => ({ bytes: 0, lagMs: 0 })
  const backup = () => ({
    ...{ isFailing: false, lastSuccess: null, lagSeconds: 0, waitingBytes: 0, droppedBytes: 0 },
    ...{ oldestRestorable: null, newestRestorable: null },
  })
  const node = { name: 'one', status }
  const text = await createRegistry(meter, { node, applyLag, backup }).metrics()
  return new Set(text.split('\n').flatMap(line => /^(\w+)[ {]/.exec(line)?.[1] ?? []))
}

function namesIn(expression: string): readonly string[] {
  return [...expression.matchAll(/\b(?:terrarium|process|nodejs)_\w+/g)].map(([name]) => name)
}

/** The expressions of the dashboard's panels and variables. */
function dashboardExpressions(): readonly string[] {
  const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
    readonly templating: { readonly list: readonly { readonly definition?: string }[] }
  }
  const targets = dashboard.panels.flatMap(panel => panel.targets.map(({ expr }) => expr))
  return [...targets, ...dashboard.templating.list.flatMap(({ definition }) => definition ?? [])]
}

function alertExpressions(): readonly string[] {
  return [...read('deploy/prometheus-alerts.yaml').matchAll(/^ {8}expr: (.*)$/gm)].map(
    ([, expr = '']) => expr,
  )
}

test('every metric of the dashboard and the alerts is served, and every metric of our own is shown', async () => {
  const served = await servedNames()
  const expressions = [...dashboardExpressions(), ...alertExpressions()]
  assert.ok(alertExpressions().length >= 10)
  const used = new Set(expressions.flatMap(namesIn))
  assert.deepEqual(
    [...used].filter(name => !served.has(name)),
    [],
  )
  const own = [...served].filter(name => name.startsWith('terrarium_') && !/_(sum|count)$/.test(name))
  const shown = new Set(dashboardExpressions().flatMap(namesIn))
  assert.deepEqual(
    own.filter(name => !shown.has(name)),
    [],
  )
})

test('every alert has a severity and a summary, and balanced brackets', () => {
  const rules = read('deploy/prometheus-alerts.yaml')
    .split(/^ {6}- alert: /m)
    .slice(1)
  for (const rule of rules) {
    assert.match(rule, /severity: (critical|warning)/)
    assert.match(rule, /summary: ./)
    const [, expr = ''] = /expr: (.*)/.exec(rule) ?? []
    for (const [open, close] of ['()', '[]', '{}']) {
      const count = (letter = '') => expr.split(letter).length
      assert.equal(count(open), count(close), rule)
    }
  }
})

test('every variable in deploy/ belongs to a setting', () => {
  const known = new Set([...Object.keys(settings), 'config'].map(variableOf))
  for (const path of files('deploy/*')) {
    const named = [...read(path).matchAll(/\bTERRARIUM_[A-Z0-9_]+/g)].map(([name]) => name)
    assert.deepEqual(
      named.filter(name => !known.has(name) && name !== 'TERRARIUM_'),
      [],
      path,
    )
  }
})

test('the probes of the Kubernetes manifests succeed on a service', async () => {
  const manifests = files('deploy/kubernetes*.yaml').map(read)
  const paths = manifests.flatMap(text =>
    [...text.matchAll(/httpGet: \{ path: '([^']+)'/g)].map(([, path = '']) => path),
  )
  assert.ok(paths.length >= 4)
  await using server = await startServer()
  for (const path of new Set(paths)) assert.equal((await fetch(`${server.url}${path}`)).status, 200, path)
})
