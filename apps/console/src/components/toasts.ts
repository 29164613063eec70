import { useSyncExternalStore } from 'react';

/* Short messages in a corner. Any code can add one. */

export type Toast = { readonly kind: 'success' | 'error'; readonly message: string };

const store = { queue: [] as readonly Toast[], isNeeded: false, listeners: new Set<() => void>() };

const subscribe = (listener: () => void) => {
  store.listeners.add(listener);
  return () => void store.listeners.delete(listener);
};

const publish = (): void => {
  for (const listener of store.listeners) listener();
};

/** Shows a message. Errors stay until the person closes them. */
export const showToast = (toast: Toast): void => {
  store.queue = [...store.queue, toast];
  store.isNeeded = true;
  publish();
};

/** Returns the messages that are not shown yet. */
export const useToasts = (): readonly Toast[] => useSyncExternalStore(subscribe, () => store.queue);

export const removeToasts = (toasts: readonly Toast[]): void => {
  store.queue = store.queue.filter((toast) => !toasts.includes(toast));
  publish();
};

/** Returns whether there has been a message. */
export const useHasToasts = (): boolean => useSyncExternalStore(subscribe, () => store.isNeeded);
