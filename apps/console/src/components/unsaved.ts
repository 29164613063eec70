import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createStore } from '../store.js';

/* What a person has entered is not lost without a question. */

type UnsavedQuestion = { readonly leave: () => void; readonly stay: () => void };

const question = createStore<UnsavedQuestion | null>(null);

/** The question that is open. The layout shows it. */
export const useUnsavedQuestion = question.useValue;

/** Asks whether to lose what is entered. */
export const askToLeave = (leave: () => void, stay: () => void = () => undefined): void =>
  question.set({ leave, stay });

export const closeQuestion = (): void => question.set(null);

/** Asks before another screen replaces what the person has entered. */
export const useUnsavedGuard = (isUnsaved: boolean): void => {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    disabled: !isUnsaved,
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  useEffect(() => {
    if (status === 'blocked') askToLeave(proceed, reset);
  }, [status, proceed, reset]);
};
