// Putting texts on the clipboard and into files.

import { useEffect, useState } from 'preact/hooks'

/** A button that copies a text and says so. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'refused'>('ready')
  useEffect(() => {
    if (state === 'ready') return
    const timer = setTimeout(() => setState('ready'), 2000)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () =>
    copyText(text).then(
      () => setState('copied'),
      () => setState('refused'),
    )
  const shown = { ready: label, copied: 'Copied', refused: 'Select the text and copy it' }[state]
  return (
    <button type="button" onClick={copy}>
      <span aria-live="polite">{shown}</span>
    </button>
  )
}

/** Rejects where the browser refuses, as it does on addresses without TLS. */
async function copyText(text: string): Promise<void> {
  if (!navigator.clipboard) throw new Error('no clipboard')
  await navigator.clipboard.writeText(text)
}

/** Hands parts of a file to the person as one. */
export function download(name: string, type: string, parts: readonly Blob[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
