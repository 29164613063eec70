import { endDirections } from './api/direction-controls.js';
import { createStore } from './store.js';

/* Short messages in a corner. Any code can add one. */

type ToastKind = 'success' | 'notice' | 'error';

type NewToast = {
  readonly kind: ToastKind;
  readonly message: string;
  /** Sends the change that restores what was before. */
  readonly undo?: (() => void) | undefined;
};

export type Toast = NewToast & { readonly id: number };

const toasts = createStore<readonly Toast[]>([]);
const ids = { last: 0 };

/** Shows a message, unless the screen shows it already, and returns its id. Errors stay until the person closes them. */
export const showToast = (toast: NewToast): number => {
  const added = { ...toast, message: endDirections(toast.message) };
  const present = toasts.get();
  const same = present.find(({ message }) => message === added.message);
  if (!added.undo && same) return same.id;
  ids.last += 1;
  // The undo of an earlier change of the same thing would restore what the later one has replaced.
  toasts.set([...present.filter((each) => each !== same), { ...added, id: ids.last }]);
  return ids.last;
};

/** Returns the callback of a change that was sent in a dialog: a message reports it, and the dialog closes. */
export const reportAndClose = (message: string, onClose: () => void, undo?: () => void) => ({
  onSuccess: (): void => {
    showToast({ kind: 'success', message, undo });
    onClose();
  },
});

export const removeToast = (id: number): void => toasts.set(toasts.get().filter((toast) => toast.id !== id));

/** Returns the messages on the screen, the oldest first. */
export const useToasts = toasts.useValue;
