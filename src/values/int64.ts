// The bounds of the language's integers, which are those of Java's `long`.

/** The least 64-bit integer. */
export const int64Min: bigint = -(2n ** 63n)
/** The greatest 64-bit integer. */
export const int64Max: bigint = 2n ** 63n - 1n
