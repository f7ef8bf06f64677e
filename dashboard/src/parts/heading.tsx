// The head of a page: where it lies, what it is called, and what can be done.

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { takeArrival } from '../router.ts'

interface HeadingProps {
  /** Pages around this one, outermost first. */
  readonly trail?: readonly (readonly [text: string, address: string])[]
  readonly title: string
  readonly children?: ComponentChildren
}

/** The title of a page, also of the browser's tab; `children` are its buttons. */
export function Heading({ trail = [], title, children }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Terrarium`
  }, [title])
  // Who has followed a link begins to read, and to go on by keyboard, at the top of what it led to: from the moment at which
  // it is there.
  useLayoutEffect(() => {
    if (takeArrival()) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header class="heading">
      <div>
        {trail.length > 0 && (
          <p class="crumbs">
            {trail.map(([text, address]) => (
              <span key={address}>
                <a href={address}>
                  <bdi>{text}</bdi>
                </a>
                {' / '}
              </span>
            ))}
          </p>
        )}
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{title}</bdi>
        </h1>
      </div>
      <div class="heading-actions">{children}</div>
    </header>
  )
}

interface TabsProps {
  readonly label: string
  readonly tabs: readonly (readonly [text: string, address: string, isHere: boolean])[]
}

/** Pages about the same thing. */
export function Tabs({ label, tabs }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([text, address, isHere]) => (
        <a key={address} href={address} aria-current={isHere ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}
