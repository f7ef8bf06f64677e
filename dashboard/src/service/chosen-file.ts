// Reads a file that was chosen in the browser, as a source for the reader of `terrarium import`.

import { detectContent } from '../../../src/transfer/detect-content.ts'
import type { ByteSource } from '../../../src/transfer/input.ts'
import { TransferError } from '../../../src/transfer/record.ts'
import type { SourceFile } from '../../../src/transfer/sources.ts'

/**
 * Recognizes the format of a file. `collection` receives the documents without a collection name. `encoding` is a
 * label; if undefined, the first bytes determine the encoding. Throws {@link TransferError} for a file that cannot be
 * imported into a collection.
 */
export async function readChosenFile(
  file: File,
  collection: string,
  encoding: string | undefined,
): Promise<SourceFile> {
  const source = sourceOf(file)
  const found = await detectContent(source, encoding)
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
  unknown: 'has an unknown format. Choose a file with JSON, CSV, TSV or output of the shell.',
  metadata: 'contains the metadata of an export. Import the whole folder with `terrarium import`.',
  fsl: 'is a schema file. Import it with `terrarium import`, or push it on the page Schema files.',
}

function sourceOf(file: File): ByteSource {
  return {
    path: file.name,
    read: from =>
      withNameInErrors(file.slice(from).stream(), file.name, 'it may have been changed or removed'),
    unpack: packed =>
      withNameInErrors(
        streamOf(packed).pipeThrough(new DecompressionStream('gzip')),
        file.name,
        'its compressed data is damaged, or ends too early',
      ),
  }
}

/** Copies the chunks, because the browser's streams need memory that is not shared. */
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

/**
 * Iterates over a stream without `for await`, which not every browser supports. Leaving the loop cancels the stream.
 * Errors name the file.
 */
async function* withNameInErrors(
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
