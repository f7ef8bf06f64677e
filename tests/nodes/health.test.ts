// The operator's view of all nodes from one node, with backups and checks that are started there.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { send } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { describeNodes, type Node } from './cluster.ts'

interface Task {
  readonly ended: number | null
  readonly failure: string | null
  readonly result: { readonly is_good: boolean; readonly place: string } | null
}

interface Health {
  readonly processes: readonly {
    readonly pid: number
    readonly works_in_background: boolean
    readonly standing: { readonly head: number; readonly fault: string | null } | null
    readonly disk: { readonly data_bytes: number }
  }[]
  readonly tasks: { readonly backup: Task | null; readonly check: Task | null }
}

async function health(node: Node): Promise<Health> {
  const asked = { method: 'GET', path: '/api/v1/health', secret: node.rootSecret }
  return (await send(node, asked)).json as Health
}

async function finished(node: Node, kind: 'backup' | 'check'): Promise<Task> {
  const path = `/api/v1/health/${kind}s`
  assert.equal((await send(node, { path, secret: node.rootSecret, body: '' })).status, 202)
  await eventually(`the ${kind} has ended`, async () => (await health(node)).tasks[kind]?.ended != null)
  return (await health(node)).tasks[kind] as Task
}

const folder = folderOfFile()

describeNodes(
  'the health of nodes',
  nodes => {
    test('each node shows all nodes; a backup and a check of the record are started on one', async () => {
      const { a: one, b: two, cluster } = nodes
      for (const node of [one, two]) {
        let found = await health(node)
        // A process that stalls may report a fault for a moment, or lose its lease.
        await eventually('both processes are shown without a fault, and one has the lease', async () => {
          found = await health(node)
          const { processes } = found
          const workers = processes.filter(each => each.works_in_background)
          const isFine = processes.every(({ standing }) => standing?.fault === null && standing.head > 0)
          return processes.length === 2 && workers.length === 1 && isFine
        })
        assert.deepEqual(new Set(found.processes.map(({ pid }) => pid)), new Set([one.pid, two.pid]))
        for (const { disk } of found.processes) assert.ok(disk.data_bytes > 0)
      }
      const check = await finished(one, 'check')
      assert.deepEqual([check.failure, check.result?.is_good], [null, true])
      const backup = await finished(one, 'backup')
      assert.equal(backup.failure, null)
      const restored = join(folder, 'restored')
      const words = ['restore', backup.result?.place ?? '', '--data', restored]
      assert.equal((await runProgram(words)).status, 0)
      assert.match((await runProgram(['check', '--data', restored])).stdout, /: sound\n$/)
      await cluster.stop(two)
      await cluster.stop(one)
    })
  },
  { a: { flags: ['--backups', join(folder, 'backups')] } },
)
