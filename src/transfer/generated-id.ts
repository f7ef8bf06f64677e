// Ids of imported documents whose files contain no ids.

/** Generated ids are smaller than all ids of Fauna's hosted service. Lower bits: 23 of a hash, 32 of the ordinal. */
const highestBit = 1n << 55n

/**
 * Derives the id from the collection, the name of the file at `path`, and `ordinal` (the record's number in the file,
 * from 1), so that a repeated import finds the document. Ids have the same order as the records. `sha256`: of a text in
 * UTF-8.
 */
export function generatedId(
  sha256: (text: string) => Uint8Array,
  collection: string,
  path: string,
  ordinal: number,
): bigint {
  const name = /[^/\\]*$/.exec(path)?.[0] ?? path
  const hash = new DataView(sha256(`${collection}\0${name}`).slice().buffer)
  return highestBit | (BigInt(hash.getUint32(0) >>> 9) << 32n) | BigInt(ordinal)
}
