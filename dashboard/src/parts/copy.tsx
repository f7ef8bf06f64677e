// Copies text to the clipboard, and downloads files.

import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'

/** A button that copies a text and confirms the copy. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready')
  useEffect(() => {
    if (state === 'ready') return
    const timer = setTimeout(() => setState('ready'), 2000)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () =>
    copyText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    )
  const shown = { ready: label, copied: 'Copied', failed: 'Copy failed: select the text' }[state]
  return (
    <Button onClick={copy}>
      <span aria-live="polite">{shown}</span>
    </Button>
  )
}

/** Rejects if the browser has no clipboard access, such as on addresses without TLS. */
async function copyText(text: string): Promise<void> {
  if (!navigator.clipboard) throw new Error('no clipboard')
  await navigator.clipboard.writeText(text)
}

/** Downloads the concatenated parts as one file. */
export function download(name: string, type: string, parts: readonly Blob[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
