// What makes a document a user: a password, and the tokens of its logins.

import { useState } from 'preact/hooks'
import { PasswordDialog } from '../parts/password-dialog.tsx'
import { Notice } from '../parts/problem.tsx'
import { addressOf } from '../router.ts'
import type { DocumentName } from '../service/documents.ts'

/** The section of a document's page about logging in. */
export function UserAccess({ name }: { name: DocumentName }) {
  const [isSetting, setSetting] = useState(false)
  const [notice, setNotice] = useState<string | undefined>(undefined)
  return (
    <section class="user-access" aria-labelledby="login">
      <h2 id="login">Logging in</h2>
      <p class="hint">
        A document with a password stands for a user: whoever knows it can log in as this document.
      </p>
      <div class="form-buttons">
        <button type="button" onClick={() => setSetting(true)}>
          Set password
        </button>
        <a class="button" href={addressOf(['tokens'], { user: `${name.collection}/${name.id}` })}>
          Tokens of this user
        </a>
      </div>
      <Notice text={notice} />
      {isSetting && (
        <PasswordDialog
          user={name}
          hint="Only its hash is kept. Tokens of earlier logins stay valid until they are revoked."
          onClose={() => setSetting(false)}
          onDone={() => {
            setSetting(false)
            setNotice('The password is set.')
          }}
        />
      )}
    </section>
  )
}
