import { useSyncExternalStore } from 'react';

/* Short messages in a corner. Any code can add one. */

type ToastKind = 'success' | 'notice' | 'error';
export type Toast = { readonly id: number; readonly kind: ToastKind; readonly message: string };

const store = { toasts: [] as readonly Toast[], lastId: 0, listeners: new Set<() => void>() };

const subscribe = (listener: () => void) => {
  store.listeners.add(listener);
  return () => void store.listeners.delete(listener);
};

const replaceToasts = (toasts: readonly Toast[]): void => {
  store.toasts = toasts;
  for (const listener of store.listeners) listener();
};

/** Shows a message, unless the screen shows it already. Errors stay until the person closes them. */
export const showToast = ({ kind, message }: { readonly kind: ToastKind; readonly message: string }): void => {
  if (store.toasts.some((toast) => toast.message === message)) return;
  store.lastId += 1;
  replaceToasts([...store.toasts, { id: store.lastId, kind, message }]);
};

export const removeToast = (id: number): void => replaceToasts(store.toasts.filter((toast) => toast.id !== id));

/** Returns the messages on the screen, the oldest first. */
export const useToasts = (): readonly Toast[] => useSyncExternalStore(subscribe, () => store.toasts);
