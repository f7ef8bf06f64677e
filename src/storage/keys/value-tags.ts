// The first bytes of encoded values (value-codec.ts). They are stored: never change them.

export const valueTags = {
  null: 0x00,
  false: 0x01,
  true: 0x02,
  int8: 0x03,
  int32: 0x04,
  int64: 0x05,
  double: 0x06,
  /** ASCII text: length, bytes. */
  ascii: 0x07,
  /** Length in bytes, UTF-8. */
  utf8: 0x08,
  /** Text with lone surrogates, which UTF-8 cannot encode: length in units, big-endian units. */
  utf16: 0x09,
  bytes: 0x0a,
  time: 0x0b,
  date: 0x0c,
  uuid: 0x0d,
  ref: 0x0e,
  lambda: 0x0f,
  array: 0x10,
  object: 0x11,
  /** Ranges of tags that contain a small number: an integer, or a length in bytes or elements. */
  smallInt: 0x40,
  smallAscii: 0x80,
  smallObject: 0xc0,
  smallArray: 0xe0,
} as const

/** The number of values in each range of tags. */
export const smallInts = 64
export const smallAsciiLengths = 64
export const smallSizes = 32

/** The first byte of a stored value: the version of the codec. */
export const valueFormat = 1

/** Maximum nesting of stored values. The limit is ours: it keeps damaged or hostile data from exhausting the stack. */
export const valueDepthMax = 2000
