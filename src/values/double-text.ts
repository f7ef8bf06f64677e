// Doubles as text the way Java prints them, which is what clients of the language have always received. The digits
// are the shortest that read back to the same double, as Java prints since release 19; older releases sometimes
// printed one digit more (9.999999999999999E22 for 1e23), which reads back the same too.

/**
 * A double as text: always with a point; plain between 0.001 and 10 million, otherwise `d.dE±n`; `NaN` and
 * `±Infinity` by name.
 */
export function javaDoubleText(double: number): string {
  const magnitude = Math.abs(double)
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    const text = String(double)
    return Number.isInteger(double) ? `${text}.0` : text
  }
  if (magnitude === 0) return Object.is(double, -0) ? '-0.0' : '0.0'
  if (!Number.isFinite(double)) return String(double)
  const shortest = double.toExponential()
  // Where one digit would do, Java prints the closest two (4.9E-324 for the smallest double).
  const text = shortest.includes('.') ? shortest : double.toExponential(1)
  return text.replace('e+', 'E').replace('e', 'E')
}
