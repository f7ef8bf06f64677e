// Preloaded by `--import` into the processes of a test: kills the process with SIGKILL at the operation that its plan
// names. Threads load this file, too, because a thread writes to LMDB.

import cluster from 'node:cluster'
import { closeSync, openSync, writeSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { Socket } from 'node:net'
import { basename } from 'node:path'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { type FileOperation, intercept } from './file-operations.ts'
import { type KillPlan, type Phase, planVariable, type Victim } from './kill-plan.ts'

const plan = JSON.parse(process.env[planVariable] ?? 'null') as KillPlan | null
const never = new Int32Array(new SharedArrayBuffer(4))

/** Undefined: a command, which is never killed. */
function kindOfProcess(): Victim | undefined {
  const [, program = '', command] = process.argv
  // Only a process that commits starts an apply thread.
  if (basename(program).startsWith('apply-thread')) return 'committer'
  if (basename(program).startsWith('slow-lane-main')) return 'slow lane'
  // Node has already removed the environment variable by which it starts a worker.
  if (cluster.isWorker) return 'worker'
  if (command === 'serve' || basename(program) === 'log-child.ts') return 'committer'
  return undefined
}

/** This thread kills the process while another thread is inside LMDB. */
const isKiller = !isMainThread && (workerData as { killer?: true } | null)?.killer === true

if (plan !== null && !isKiller && kindOfProcess() === plan.victim) carryOut(plan)

function carryOut(plan: KillPlan): void {
  const { operation: last, phase, share } = plan
  let count = 0
  /** True if the plan names this operation of its phase. */
  const isNext = (of: Phase) => of === phase && count++ === last
  const chosen = new WeakSet<FileOperation>()
  intercept({
    before(operation) {
      const of = phaseOf(operation, phase)
      if (of === undefined || !isNext(of)) return
      if (share === 1) chosen.add(operation)
      else kill(plan, operation)
    },
    after(operation) {
      if (chosen.has(operation)) kill(plan)
    },
  })
  if (phase === 'acknowledge') killAtSend(plan, isNext)
  if (phase === 'apply' || phase === 'replay') killInLmdb(plan, isNext)
}

/** `phase`: the phase of the plan. */
function phaseOf(operation: FileOperation, phase: Phase): Phase | undefined {
  const name = basename(operation.path)
  const isSegment = /^\d{16}$/.test(name)
  switch (operation.kind) {
    case 'write':
      if (name === 'durable') return 'acknowledge'
      // With O_DSYNC a write is a flush as well.
      return isSegment ? (phase === 'flush' && operation.isFlushed ? 'flush' : 'append') : 'rotate'
    case 'flush':
      return isSegment ? 'flush' : 'rotate'
    case 'create':
    case 'flush names':
      return 'rotate'
    case 'rename':
      return isSegment ? 'recycle' : 'rotate'
    case 'remove':
      return 'recycle'
    case 'read':
      return isSegment && phase === 'replay' ? 'replay' : 'read'
  }
}

/** Kills at a write to a socket: a response, or a message to another process. */
function killAtSend(plan: KillPlan, isNext: (phase: Phase) => boolean): void {
  const write = Socket.prototype.write as (...words: unknown[]) => boolean
  Object.assign(Socket.prototype, {
    write(this: Socket, ...words: unknown[]): boolean {
      const isChosen = isNext('acknowledge')
      if (isChosen && plan.share < 1) kill(plan)
      const result = write.apply(this, words)
      if (isChosen) kill(plan)
      return result
    },
  })
}

/** Functions of an LMDB environment that this file replaces. */
interface Environment {
  transactionSync(work: () => unknown): unknown
}

/**
 * Kills the process before, within or after a transaction of LMDB. The transaction belongs to the apply thread, or to a
 * process that opens a directory.
 */
function killInLmdb(plan: KillPlan, isNext: (phase: Phase) => boolean): void {
  const phase = isMainThread ? 'replay' : 'apply'
  const observe = (root: Environment) => {
    const transactionSync = root.transactionSync.bind(root)
    root.transactionSync = work => {
      const isChosen = isNext(phase)
      if (isChosen && plan.share === 0) kill(plan)
      const result = transactionSync(() => {
        const made = work()
        if (isChosen && plan.share < 1) killLater(plan)
        return made
      })
      if (isChosen) kill(plan)
      return result
    }
    return root
  }
  Object.assign(globalThis, { observeEnvironment: observe })
  const source = `export * from 'lmdb'
import { open as openIt } from 'lmdb'
export const open = (...words) => globalThis.observeEnvironment(openIt(...words))`
  const wrapper = `data:text/javascript,${encodeURIComponent(source)}`
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== 'lmdb') return next(specifier, context)
      if (context.parentURL === wrapper) return next(specifier, { ...context, parentURL: import.meta.url })
      return { url: wrapper, shortCircuit: true }
    },
  })
}

/** Microseconds after which a process is killed while LMDB commits. */
const laterMaxMicros = 2000

/** Kills the process a moment later from another thread, because this thread is about to enter LMDB. */
function killLater(plan: KillPlan): void {
  mark(plan)
  const shared = new Int32Array(new SharedArrayBuffer(4))
  const source = `const { workerData: { micros, shared } } = require('node:worker_threads')
Atomics.store(shared, 0, 1)
Atomics.notify(shared, 0)
const until = performance.now() + micros / 1000
while (performance.now() < until);
process.kill(process.pid, 'SIGKILL')`
  const data = { killer: true, shared, micros: plan.share * laterMaxMicros }
  new Worker(source, { eval: true, workerData: data })
  Atomics.wait(shared, 0, 0)
}

/** Does the planned part of a write, then kills the process. */
function kill(plan: KillPlan, operation?: FileOperation): void {
  if (!mark(plan)) return
  if (operation?.kind === 'write') {
    const { bytes, descriptor, position } = operation
    const length = Math.floor(bytes.length * plan.share)
    if (length > 0) writeSync(descriptor, bytes, 0, length, position)
  }
  process.kill(process.pid, 'SIGKILL')
  Atomics.wait(never, 0, 0)
}

/** Returns false if the file exists. */
function mark({ marker }: KillPlan): boolean {
  try {
    closeSync(openSync(marker, 'wx'))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}
