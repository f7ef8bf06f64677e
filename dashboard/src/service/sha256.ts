// SHA-256 (FIPS 180-4). Browsers offer `crypto.subtle` only to pages served over TLS, which a service in a private
// network often lacks. For short texts without secrets.

const primes = Array.from({ length: 311 }, (_, at) => at + 2).filter(isPrime)
const fractionBits = 2 ** 32
const initial = primes.slice(0, 8).map(prime => ((Math.sqrt(prime) % 1) * fractionBits) | 0)
const constants = primes.slice(0, 64).map(prime => ((Math.cbrt(prime) % 1) * fractionBits) | 0)
const blockBytes = 64

function isPrime(number: number): boolean {
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return false
  return true
}

/** Returns the SHA-256 of a text in UTF-8, in 32 bytes. */
export function sha256(text: string): Uint8Array {
  const message = new TextEncoder().encode(text)
  const blocks = new Uint8Array(Math.ceil((message.length + 9) / blockBytes) * blockBytes)
  blocks.set(message)
  blocks[message.length] = 0x80
  const view = new DataView(blocks.buffer)
  view.setUint32(blocks.length - 4, message.length * 8)
  const state = Int32Array.from(initial)
  for (let from = 0; from < blocks.length; from += blockBytes) addBlock(state, view, from)
  const hash = new DataView(new ArrayBuffer(32))
  for (const [at, word] of state.entries()) hash.setInt32(at * 4, word)
  return new Uint8Array(hash.buffer)
}

function addBlock(state: Int32Array, view: DataView, from: number): void {
  const words = new Int32Array(64)
  for (let at = 0; at < 16; at++) words[at] = view.getInt32(from + at * 4)
  for (let at = 16; at < 64; at++) {
    const [early, late] = [words[at - 15] as number, words[at - 2] as number]
    const small = rotateRight(early, 7) ^ rotateRight(early, 18) ^ (early >>> 3)
    const large = rotateRight(late, 17) ^ rotateRight(late, 19) ^ (late >>> 10)
    words[at] = (words[at - 16] as number) + small + (words[at - 7] as number) + large
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let at = 0; at < 64; at++) {
    const choice = (e & f) ^ (~e & g)
    const majority = (a & b) ^ (a & c) ^ (b & c)
    const first = h + (rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)) + choice
    const added = (first + (constants[at] as number) + (words[at] as number)) | 0
    const turned = ((rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)) + majority) | 0
    ;[a, b, c, d, e, f, g, h] = [(added + turned) | 0, a, b, c, (d + added) | 0, e, f, g]
  }
  for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] = (state[at] as number) + word
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}
