// A switch between the two versions of the query language.

import type { Version } from '../language.ts'

/** The switch. */
export function VersionSwitch({
  version,
  onChange,
}: {
  version: Version
  onChange: (version: Version) => void
}) {
  return (
    <fieldset class="switch" aria-label="Language">
      {(['4', '10'] as const).map(each => (
        <button key={each} type="button" aria-pressed={version === each} onClick={() => onChange(each)}>
          Version {each}
        </button>
      ))}
    </fieldset>
  )
}
