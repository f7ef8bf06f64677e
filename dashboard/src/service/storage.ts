// Texts in the storage of the browser, which may be full or disabled, so a text may be lost when the page is reloaded.

type Area = 'localStorage' | 'sessionStorage'

export function readStored(area: Area, key: string): string | undefined {
  try {
    return window[area].getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

/** The caller asserts the type of the values it stores. */
export function readStoredJson<T>(area: Area, key: string): T | undefined {
  try {
    return JSON.parse(readStored(area, key) ?? '') as T
  } catch {
    return undefined
  }
}

/** Stores a text. If the text is undefined, deletes the stored text. */
export function store(area: Area, key: string, text: string | undefined): void {
  try {
    if (text === undefined) window[area].removeItem(key)
    else window[area].setItem(key, text)
  } catch {
    // The page works without storage.
  }
}
