// Finishes the output of a command. A pipe takes 64 KiB at once, and `process.exit` discards the rest. Errors of a
// stream are reported after the write that failed.

import { styleFor } from './terminal.ts'

/**
 * Call it before the first output. The returned function waits until all output is written, and resolves with the exit
 * status: 1 if output was lost, else the given status. A reader that closes its pipe, such as `head`, loses nothing that
 * it wanted.
 */
export function watchOutput(): (status: number) => Promise<number> {
  let failure: NodeJS.ErrnoException | undefined
  process.stdout.on('error', error => {
    failure ??= error
  })
  // Without a listener, an error of standard error would be thrown.
  process.stderr.on('error', () => undefined)
  return async status => {
    await Promise.all([process.stdout, process.stderr].map(written))
    if (failure === undefined || failure.code === 'EPIPE') return status
    const name = styleFor(process.stderr)(['red', 'bold'], 'terrarium')
    process.stderr.write(`${name}: cannot write standard output: ${failure.message}\n`)
    await written(process.stderr)
    return status === 0 ? 1 : status
  }
}

/** Also resolves after an error, when the listeners have been called. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise(resolve => stream.write('', () => setImmediate(resolve)))
}
