import { lazy, Suspense } from 'react';
import { useHasToasts } from './toasts.js';

const Toasts = lazy(async () => ({ default: (await import('./toast-list.js')).ToastList }));

/** Shows messages. The code for it is loaded with the first message. */
export const ToastOutlet = () =>
  useHasToasts() ? (
    <Suspense>
      <Toasts />
    </Suspense>
  ) : null;
