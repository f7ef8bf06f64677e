// The range of the language's integers, which is that of Java's `long`.

/** The smallest 64-bit integer. */
export const int64Min: bigint = -(2n ** 63n)
/** The largest 64-bit integer. */
export const int64Max: bigint = 2n ** 63n - 1n
