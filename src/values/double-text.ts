// Formats doubles as Java does, because clients of FQL have always received this form: usually the shortest digits that
// parse to the same double, and for a few doubles the other digits that Java prints.

/**
 * The text of a finite double always has a decimal point. Zero, and magnitudes from 0.001 to below 10 million, have
 * plain digits. Other finite doubles have the form `d.dEn` or `d.dE-n`. The other texts are `NaN`, `Infinity` and
 * `-Infinity`.
 */
export function javaDoubleText(double: number): string {
  const magnitude = Math.abs(double)
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    const text = String(double)
    return Number.isInteger(double) ? `${text}.0` : text
  }
  if (magnitude === 0) return Object.is(double, -0) ? '-0.0' : '0.0'
  if (!Number.isFinite(double)) return String(double)
  if (hasOwnJavaDigits(magnitude)) {
    const { digits, exponent } = javaDigits(magnitude)
    return `${double < 0 ? '-' : ''}${digits[0]}.${digits.slice(1) || '0'}E${exponent}`
  }
  const shortest = double.toExponential()
  const text = shortest.includes('.') ? shortest : double.toExponential(1)
  return text.replace('e+', 'E').replace('e', 'E')
}

/** Digits without trailing zeros; `exponent`: the power of ten of the first digit. */
interface JavaDigits {
  readonly digits: string
  readonly exponent: number
}

const fractionBits = 52
const significantBitsMax = fractionBits + 1
const exponentBias = 1023
const hiddenBit = 1n << BigInt(fractionBits)
const smallestNormal = 2 ** -1022

const view = new DataView(new ArrayBuffer(8))

interface BinaryParts {
  /** Includes the hidden bit. The value of the double is `fraction * 2^(exponent - 52)`. */
  readonly fraction: bigint
  readonly exponent: number
  /** Significant bits in the fraction: 53, or fewer for a subnormal double. */
  readonly precision: number
}

function binaryParts(magnitude: number): BinaryParts {
  // A subnormal double has no hidden bit. Scaling it to a normal double shows how many bits are missing.
  const lift = magnitude < smallestNormal ? significantBitsMax : 0
  view.setFloat64(0, magnitude * 2 ** lift)
  const bits = view.getBigUint64(0)
  const fraction = (bits & (hiddenBit - 1n)) | hiddenBit
  const exponent = Number(bits / hiddenBit) - exponentBias - lift
  const missing = Math.max(0, -1022 - exponent)
  return { fraction, exponent, precision: significantBitsMax - missing }
}

/** `magnitude` is finite and not negative. False: Java's digits are the shortest digits. */
export function hasOwnJavaDigits(magnitude: number): boolean {
  if (magnitude >= 1e-3) return magnitude >= 2 ** significantBitsMax
  if (magnitude < smallestNormal) return magnitude > 0
  return binaryParts(magnitude).fraction === hiddenBit
}

/**
 * The digits that Java printed up to release 18 can differ from the shortest digits only for doubles from 2^53 on,
 * powers of two below 0.001, and subnormal doubles. For the others, the runtime computes the same digits in less time.
 * This code uses the algorithm of java.lang.Double.toString, including Java's integer overflows. The digits of three
 * million doubles of all magnitudes were compared with those of release 17. `magnitude` is positive and finite.
 */
export function javaDigits(magnitude: number): JavaDigits {
  const { exponent, fraction, precision } = binaryParts(magnitude)
  return exponent >= fractionBits && exponent <= 62
    ? integerDigits(fraction << BigInt(exponent - fractionBits), exponent)
    : generatedDigits(fraction, exponent, precision)
}

/**
 * For doubles from 2^52 to below 2^63, Java uses integer arithmetic, and rounds digits beyond the precision of a double
 * to zeros.
 */
function integerDigits(integer: bigint, exponent: number): JavaDigits {
  const beyond = exponent - significantBitsMax - 1
  // 2^beyond has one digit more.
  const insignificant = beyond < 4 ? 0 : beyond < 7 ? 1 : 2
  const scale = 10n ** BigInt(insignificant)
  const rounded = (integer + scale / 2n) / scale
  const text = String(rounded)
  return { digits: text.replace(/0+$/, ''), exponent: text.length - 1 + insignificant }
}

/**
 * Estimates the power of ten of the first digit: never too small, and at most 1 too large. `generate` corrects the
 * estimate.
 */
function estimatedExponent(fraction: bigint, exponent: number): number {
  const mantissa = Number(fraction) / 2 ** fractionBits
  return Math.floor((mantissa - 1.5) * 0.289529654 + 0.176091259 + exponent * 0.301029995663981)
}

/** As in Java, an estimate for powers above 26. */
const bitLengthOfPowerOf5 = (power: number) =>
  power === 0 ? 0 : power <= 26 ? (5n ** BigInt(power)).toString(2).length : power * 3

/**
 * Generates digits until the remainder `b / s` is within the rounding interval of the double, whose bound is `m / s`.
 * Before the first digit, the remainder is the whole value.
 */
function generatedDigits(fraction: bigint, binaryExponent: number, precision: number): JavaDigits {
  let significant = fraction
  let bits = significantBitsMax
  while ((significant & 1n) === 0n) {
    significant >>= 1n
    bits--
  }
  const tinyBits = Math.max(0, bits - binaryExponent - 1)
  const estimate = estimatedExponent(fraction, binaryExponent)
  const fives = { value: Math.max(0, -estimate), scale: Math.max(0, estimate) }
  const value = fives.value + tinyBits + binaryExponent - (bits - 1)
  const scale = fives.scale + tinyBits
  // For a power of two, the next smaller double is half as far as the next larger one. The smaller distance is used in
  // both directions.
  const bound = fives.value + tinyBits + binaryExponent - precision - (bits === 1 ? 1 : 0)
  const common = Math.min(value, scale, bound)
  const power = (five: number, two: number) => (5n ** BigInt(five)) << BigInt(two - common)
  const fits =
    bits + value - common + bitLengthOfPowerOf5(fives.value) < 64 &&
    scale - common + 1 + bitLengthOfPowerOf5(fives.scale + 1) < 64
  return generate({
    b: significant * power(fives.value, value),
    s: power(fives.scale, scale),
    m: power(fives.value, bound),
    exponent: estimate,
    wraps: fits,
  })
}

interface Generation {
  readonly b: bigint
  readonly s: bigint
  readonly m: bigint
  readonly exponent: number
  /**
   * Java computes with 64-bit integers, so the bound can overflow. At a negative bound, Java stops generating digits.
   */
  readonly wraps: boolean
}

function generate({ b: value, exponent: estimate, m: bound, s, wraps }: Generation): JavaDigits {
  const ten = s * 10n
  const width = (integer: bigint) => (wraps ? BigInt.asIntN(64, integer) : integer)
  let [b, m, exponent] = [value, bound, estimate]
  let digits = ''
  let [low, high] = [false, false]
  const next = () => {
    const digit = b / s
    b = (b % s) * 10n
    m = width(m * 10n)
    low = m <= 0n || b < m
    high = m <= 0n || width(b + m) > ten
    return digit
  }
  const first = next()
  if (first === 0n && !high) exponent--
  else digits = String(first)
  // Scientific notation has at least one digit after the point.
  if (exponent < -3 || exponent >= 8) [low, high] = [false, false]
  while (!low && !high) digits += next()
  const twice = b * 2n
  const up = high && (!low || twice > ten || (twice === ten && Number(digits.at(-1)) % 2 === 1))
  if (up && /^9+$/.test(digits)) return { digits: '1', exponent: exponent + 1 }
  if (up) digits = String(BigInt(digits) + 1n).padStart(digits.length, '0')
  return { digits: digits.replace(/0+$/, ''), exponent }
}
