// Runs the test suite several times and prints the totals of each run, to find tests whose results vary:
//
//     npx node scripts/repeat-tests.ts --times 5            alone
//     npx node scripts/repeat-tests.ts --times 1 --busy 4   beside four processes that use a core each
//     npx node scripts/repeat-tests.ts --times 3 crash      only files whose path contains the word
//
// Exits with 1 if a run failed. The output of a failed run is kept in a temporary file, whose name is printed.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readOptions } from './command-line.ts'

const { positionals: words, values } = readOptions({
  usage: `npx node scripts/repeat-tests.ts [WORD…] [options]

Runs the tests several times, and prints the totals of each run.

  --times N    number of runs (5)
  --busy N     CPU-bound processes beside the tests (0)
  --faults     the fault tests
  --help       prints this text`,
  options: {
    times: { type: 'string', default: '5' },
    busy: { type: 'string', default: '0' },
    faults: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const script = fileURLToPath(new URL('test.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'terrarium-repeated-'))

/** Uses one core until it is killed. */
function startBusyProcess(): ChildProcess {
  return spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' })
}

/** Resolves with exit status and output. */
function runOnce(): Promise<{ readonly status: number; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...(values.faults ? ['--faults'] : []), ...words])
    let output = ''
    child.stdout.setEncoding('utf8').on('data', text => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', text => {
      output += text
    })
    child.once('error', reject)
    child.once('close', status => resolve({ status: status ?? -1, output }))
  })
}

/** Returns a total from the last lines of Node's report, such as that of `fail`. */
function total(output: string, name: string): string {
  return new RegExp(`^ℹ ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? '?'
}

const busy = Array.from({ length: Number(values.busy) }, startBusyProcess)
process.once('exit', () => {
  for (const child of busy) child.kill('SIGKILL')
})
console.log('  run  tests   pass   fail   skip  seconds')
for (let run = 1; run <= Number(values.times); run++) {
  const { status, output } = await runOnce()
  const counts = ['tests', 'pass', 'fail', 'skipped'].map(name => total(output, name).padStart(6))
  const seconds = Math.round(Number(total(output, 'duration_ms')) / 1000)
  console.log(`${String(run).padStart(5)} ${counts.join(' ')} ${String(seconds).padStart(8)}`)
  if (status === 0) continue
  process.exitCode = 1
  const file = join(folder, `run-${run}.log`)
  writeFileSync(file, output)
  console.log(`      failed: ${file}`)
}
for (const child of busy) child.kill('SIGKILL')
