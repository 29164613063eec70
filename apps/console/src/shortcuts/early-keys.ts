/* Keys that a person presses after the palette was opened, and before its field is on the screen. */

const store = { text: '', stop: (): void => undefined };

/** Keys that would do something on the screen below the palette. Others, such as F5, stay with the browser. */
const OTHER_KEYS: ReadonlySet<string> = new Set(['Enter', 'Tab', 'ArrowDown', 'ArrowUp']);

/** Adds a key to the text. Returns false for keys that it does not handle. */
const addKey = (key: string): boolean => {
  if (key === 'Backspace') store.text = store.text.slice(0, -1);
  else if (key.length === 1) store.text += key;
  else return OTHER_KEYS.has(key);
  return true;
};

/** Keeps all keys from the screen until `takeEarlyKeys` or `dropEarlyKeys`. The Escape key calls `onEscape`. */
export const keepEarlyKeys = (onEscape: () => void): void => {
  dropEarlyKeys();
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Escape') onEscape();
    else if (!addKey(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  // Before all other listeners, and also if a field of the screen has the focus.
  window.addEventListener('keydown', onKeyDown, { capture: true });
  store.stop = () => window.removeEventListener('keydown', onKeyDown, { capture: true });
};

/** Leaves the keys to the screen again, and returns the text that was typed. */
export const takeEarlyKeys = (): string => {
  const { text } = store;
  store.stop();
  store.text = '';
  return text;
};

/** Leaves the keys to the screen again. */
export const dropEarlyKeys = (): void => void takeEarlyKeys();
