// Copies text to the clipboard, and downloads files.

import { useEffect, useState } from 'preact/hooks'
import { Button } from './button.tsx'

/** A button that copies a text and then confirms that the text was copied. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [state, setState] = useState<'ready' | 'copied' | 'failed'>('ready')
  useEffect(() => {
    if (state === 'ready') return
    const timer = setTimeout(() => setState('ready'), 2000)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async () => {
    try {
      // On addresses without TLS, browsers have no clipboard access.
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      setState('failed')
    }
  }
  const shown = { ready: label, copied: 'Copied', failed: 'Copy failed: select the text' }[state]
  return (
    <Button onClick={copy}>
      <span aria-live="polite">{shown}</span>
    </Button>
  )
}

/** Downloads a file that contains the parts one after the other. */
export function download(name: string, type: string, parts: readonly Blob[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
