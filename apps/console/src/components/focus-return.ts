import { useEffect, useState } from 'react';

const hasNoFocus = (): boolean => document.activeElement === null || document.activeElement === document.body;

/** Moves the focus to the heading of the screen. */
export const focusHeading = (): void => document.querySelector('h1')?.focus();

/** Gives the heading the focus if the element leaves the document with it, such as a chip that the next answer removes. */
const followFocus = (element: HTMLElement): void => {
  const observer = new MutationObserver(() => {
    if (document.activeElement === element) return;
    observer.disconnect();
    if (!element.isConnected && hasNoFocus()) focusHeading();
  });
  observer.observe(document.body, { childList: true, subtree: true });
};

/** Gives the heading the focus if the element that has it leaves the document, or has left it. */
export const recoverFocus = (): void => {
  const { activeElement } = document;
  if (hasNoFocus()) focusHeading();
  else if (activeElement instanceof HTMLElement) followFocus(activeElement);
};

/**
 * Gives the focus back to the element that had it before the component appeared, when the component disappears. If that element
 * is gone, or goes while it has the focus, the heading of the screen gets the focus. Mantine does so only for dialogs that
 * stay in the document.
 */
export const useFocusReturn = (): void => {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (!hasNoFocus()) return;
      if (!(before instanceof HTMLElement) || before === document.body || !before.isConnected) return focusHeading();
      before.focus();
      followFocus(before);
    },
    [before],
  );
};
