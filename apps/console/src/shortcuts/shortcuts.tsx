import { createContext, useContext, useEffect, useEffectEvent, useMemo, useState, type ReactNode } from 'react';

/* Shortcuts of one key or of two keys after each other, such as `/` and `g w`. */

type Shortcut = {
  /** Keys with a space between them: `?`, `g w`. */
  readonly keys: string;
  readonly label: string;
  readonly run: () => void;
};

type ShortcutRegistry = {
  readonly add: (shortcut: Shortcut) => () => void;
  readonly list: () => readonly Shortcut[];
  readonly isEnabled: boolean;
  readonly setEnabled: (isEnabled: boolean) => void;
};

const ShortcutContext = createContext<ShortcutRegistry | null>(null);

export const useShortcuts = (): ShortcutRegistry => {
  const registry = useContext(ShortcutContext);
  if (!registry) throw new Error('useShortcuts needs a ShortcutProvider above it');
  return registry;
};

/** Registers a shortcut while the component is on the screen. Null registers none. */
export const useShortcut = (shortcut: Shortcut | null): void => {
  const { add } = useShortcuts();
  const run = useEffectEvent(() => shortcut?.run());
  const keys = shortcut?.keys ?? null;
  const label = shortcut?.label ?? '';
  useEffect(() => (keys === null ? undefined : add({ keys, label, run: () => run() })), [add, keys, label]);
};

/** The second key of a shortcut must follow within this time. */
const SEQUENCE_MS = 1_200;
const STORAGE_KEY = 'cadastre-shortcuts';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

const isInDialog = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null;

const useKeySequences = (shortcuts: ReadonlySet<Shortcut>, isEnabled: boolean): void => {
  useEffect(() => {
    if (!isEnabled) return undefined;
    let prefix = { key: '', at: 0 };
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(event.target) || isInDialog(event.target)) return;
      // A later screen takes precedence over the layout.
      const find = (keys: string) => [...shortcuts].findLast((shortcut) => shortcut.keys === keys);
      const isSequence = event.timeStamp - prefix.at < SEQUENCE_MS;
      const match = (isSequence ? find(`${prefix.key} ${event.key}`) : undefined) ?? find(event.key);
      prefix = match ? { key: '', at: 0 } : { key: event.key, at: event.timeStamp };
      if (!match) return;
      event.preventDefault();
      match.run();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [shortcuts, isEnabled]);
};

/**
 * Listens to the keyboard. People can turn the shortcuts off, because a screen reader or speech input may need the same
 * keys (WCAG 2.1.4).
 */
export const ShortcutProvider = ({ children }: { readonly children: ReactNode }) => {
  const [shortcuts] = useState(() => new Set<Shortcut>());
  const [isEnabled, setEnabled] = useState(() => localStorage.getItem(STORAGE_KEY) !== 'off');
  useKeySequences(shortcuts, isEnabled);
  const registry = useMemo(
    () => ({
      add: (shortcut: Shortcut) => {
        shortcuts.add(shortcut);
        return () => void shortcuts.delete(shortcut);
      },
      list: () => [...shortcuts],
      isEnabled,
      setEnabled: (next: boolean) => {
        localStorage.setItem(STORAGE_KEY, next ? 'on' : 'off');
        setEnabled(next);
      },
    }),
    [shortcuts, isEnabled],
  );
  return <ShortcutContext value={registry}>{children}</ShortcutContext>;
};
