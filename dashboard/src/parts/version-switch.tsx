// Chooses the version of the language in which a query is written.

import type { Version } from '../language.ts'

/** The two versions beside each other. */
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
