// Opens the form for a new object.

import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { pastTime } from '../router.ts'
import { Button } from './button.tsx'

interface CreateButtonProps {
  readonly text: string
  readonly isAllowed: boolean
  readonly form: ComponentType<{ readonly onClose: () => void }>
}

/** Renders nothing for callers without the right, and at a past time. */
export function CreateButton({ text, isAllowed, form: Form }: CreateButtonProps) {
  const [isOpen, setOpen] = useState(false)
  if (!isAllowed || pastTime.value !== undefined) return null
  return (
    <>
      <Button class="primary" onClick={() => setOpen(true)}>
        {text}
      </Button>
      {isOpen && <Form onClose={() => setOpen(false)} />}
    </>
  )
}
