// The names of region groups. An instance belongs to one of them. The others are valid too: a pipeline that queries all
// of them gets an empty result and no error.

/** The region groups of the hosted service. */
const hosted: readonly string[] = ['us-std', 'eu-std']

/** Returns whether a region group exists, for an instance of the group `own`. */
export function isRegionGroup(name: string, own: string): boolean {
  return name === own || hosted.includes(name)
}
