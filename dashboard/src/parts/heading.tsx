// The heading of a page: breadcrumbs, title and actions.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { takeArrival } from '../router.ts'
import { NameLink } from './link.tsx'

interface HeadingProps {
  /** Outermost page first. */
  readonly trail?: readonly (readonly [text: string, address: string])[]
  readonly title: string
  readonly children?: ComponentChildren
}

/** Also sets the title of the browser tab. `children` are the actions. */
export function Heading({ trail = [], title, children }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Terrarium`
  }, [title])
  // The heading receives the focus after a navigation, so that screen readers and keyboard users start at the top of
  // the new page.
  useEffect(() => {
    if (takeArrival()) heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header class="heading">
      <div>
        {trail.length > 0 && (
          <p class="crumbs">
            {trail.map(([text, address]) => (
              <span key={address}>
                <NameLink href={address} name={text} />
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

/** Links to the pages of one object. */
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
