import '@mantine/notifications/styles.layer.css';
import { Notifications, notifications } from '@mantine/notifications';
import { useEffect } from 'react';
import { removeToasts, useToasts } from './toasts.js';

const SHOWN_MS = 5_000;

export const ToastList = () => {
  const toasts = useToasts();
  useEffect(() => {
    for (const { kind, message } of toasts) {
      notifications.show({
        message,
        color: kind === 'error' ? 'red' : 'cadastre',
        autoClose: kind === 'error' ? false : SHOWN_MS,
        role: kind === 'error' ? 'alert' : 'status',
        withBorder: true,
      });
    }
    if (toasts.length > 0) removeToasts(toasts);
  }, [toasts]);
  return <Notifications position="bottom-right" aria-label="Messages" />;
};
