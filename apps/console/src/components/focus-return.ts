import { useEffect, useState } from 'react';

/**
 * Gives the focus back to the element that had it before the component appeared, when the component disappears. If that element
 * is gone, the heading of the screen gets the focus. Mantine does so only for dialogs that stay in the document.
 */
export const useFocusReturn = (): void => {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (document.activeElement !== null && document.activeElement !== document.body) return;
      const isThere = before instanceof HTMLElement && before !== document.body && before.isConnected;
      (isThere ? before : document.querySelector('h1'))?.focus();
    },
    [before],
  );
};
