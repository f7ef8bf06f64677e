// A link whose text is the name of an object. `bdi` confines direction control characters in the name to the link.

interface LinkProps {
  readonly href: string
  readonly name: string | undefined
}

export function NameLink({ href, name }: LinkProps) {
  return (
    <a href={href}>
      <bdi>{name}</bdi>
    </a>
  )
}
