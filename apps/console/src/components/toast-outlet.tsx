import { ActionIcon, Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { recoverFocus } from './focus-return.js';
import { AlertIcon, CheckIcon, CloseIcon } from './icons.js';
import { removeToast, useToasts, type Toast } from '../toasts.js';
import classes from './toast-outlet.module.css';

const SHOWN_MS = 6_000;
const SHOWN_WITH_UNDO_MS = 12_000;

const ToastMessage = ({ toast: { id, kind, message, undo } }: { readonly toast: Toast }) => {
  const [isPaused, setPaused] = useState(false);
  useEffect(() => {
    if (kind === 'error' || isPaused) return undefined;
    const timer = setTimeout(() => removeToast(id), undo ? SHOWN_WITH_UNDO_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, kind, undo, isPaused]);
  const close = () => {
    flushSync(() => removeToast(id));
    recoverFocus();
  };
  const Icon = kind === 'success' ? CheckIcon : AlertIcon;
  return (
    <div
      role={kind === 'error' ? 'alert' : undefined}
      className={classes['toast']}
      data-kind={kind}
      // A message stays while the person points at it or uses its button.
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      <Icon size={18} className={classes['icon']} />
      <span className={classes['text']}>{message}</span>
      {undo && (
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => {
            close();
            undo();
          }}
        >
          Undo
        </Button>
      )}
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label="Close the message" onClick={close}>
        <CloseIcon size={14} />
      </ActionIcon>
    </div>
  );
};

/** Shows messages. It is always in the page, because screen readers read only what is added to an existing region. */
export const ToastOutlet = () => {
  const toasts = useToasts();
  return (
    <section className={classes['list']} aria-label="Messages" aria-live="polite">
      {toasts.map((toast) => (
        <ToastMessage key={toast.id} toast={toast} />
      ))}
    </section>
  );
};
