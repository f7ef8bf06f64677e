// A file that was chosen in the browser, as a source of what `terrarium import` reads.

import type { ByteSource } from '../../../src/transfer/input.ts'
import { recognise } from '../../../src/transfer/recognise.ts'
import { TransferError } from '../../../src/transfer/record.ts'
import type { SourceFile } from '../../../src/transfer/sources.ts'

/**
 * What a file holds. `collection`: of documents that do not say theirs. `encoding`: the label of the one that the text is
 * in; undefined for what its first bytes say. Throws {@link TransferError} for what cannot be imported into a collection.
 */
export async function readChosen(
  file: File,
  collection: string,
  encoding: string | undefined,
): Promise<SourceFile> {
  const source = sourceOf(file)
  const found = await recognise(source, encoding)
  const { kind } = found.content
  const refusal = refusals[kind]
  if (refusal !== undefined) throw new TransferError(`${file.name} ${refusal}`)
  return {
    path: file.name,
    shown: file.name,
    source,
    ...found,
    bytes: file.size,
    modifiedMs: file.lastModified,
    database: [],
    collection,
  }
}

const refusals: Readonly<Record<string, string | undefined>> = {
  empty: 'is empty.',
  unknown: 'is of no known format: JSON, CSV and what the shell prints are read.',
  metadata: 'says what else an export holds. Import the whole folder with `terrarium import`.',
  fsl: 'is a schema. Import it with `terrarium import`, or push it with `terrarium schema`.',
}

function sourceOf(file: File): ByteSource {
  return {
    path: file.name,
    read: from => namingFile(file.slice(from).stream(), file.name, 'it may have been changed or removed'),
    unpack: packed =>
      namingFile(
        streamOf(packed).pipeThrough(new DecompressionStream('gzip')),
        file.name,
        'its compressed data is damaged, or ends too early',
      ),
  }
}

/** Chunks as a stream, over memory that is not shared, as the browser's own streams want them. */
function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value.slice())
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}

/** The chunks of a stream, which not every browser can loop over; what is left of it is given up with the loop. */
async function* namingFile(
  stream: ReadableStream<Uint8Array>,
  name: string,
  reason: string,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (cause) {
    throw new TransferError(`${name} cannot be read: ${reason}`, { cause })
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
