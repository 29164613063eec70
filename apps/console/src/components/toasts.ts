import { useSyncExternalStore } from 'react';
import { endDirections } from '../api/direction-controls.js';

/* Short messages in a corner. Any code can add one. */

type ToastKind = 'success' | 'notice' | 'error';

type NewToast = {
  readonly kind: ToastKind;
  readonly message: string;
  /** Sends the change that restores what was before. */
  readonly undo?: (() => void) | undefined;
};

export type Toast = NewToast & { readonly id: number };

const store = { toasts: [] as readonly Toast[], lastId: 0, listeners: new Set<() => void>() };

const subscribe = (listener: () => void) => {
  store.listeners.add(listener);
  return () => void store.listeners.delete(listener);
};

const replaceToasts = (toasts: readonly Toast[]): void => {
  store.toasts = toasts;
  for (const listener of store.listeners) listener();
};

/** Shows a message, unless the screen shows it already, and returns its id. Errors stay until the person closes them. */
export const showToast = (toast: NewToast): number => {
  const added = { ...toast, message: endDirections(toast.message) };
  const same = store.toasts.find(({ message }) => message === added.message);
  if (!added.undo && same) return same.id;
  store.lastId += 1;
  // The undo of an earlier change of the same thing would restore what the later one has replaced.
  replaceToasts([...store.toasts.filter((each) => each !== same), { ...added, id: store.lastId }]);
  return store.lastId;
};

/** Returns the callback of a change that was sent in a dialog: a message reports it, and the dialog closes. */
export const reportAndClose = (message: string, onClose: () => void, undo?: () => void) => ({
  onSuccess: (): void => {
    showToast({ kind: 'success', message, undo });
    onClose();
  },
});

export const removeToast = (id: number): void => replaceToasts(store.toasts.filter((toast) => toast.id !== id));

/** Returns the messages on the screen, the oldest first. */
export const useToasts = (): readonly Toast[] => useSyncExternalStore(subscribe, () => store.toasts);
