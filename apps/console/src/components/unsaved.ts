import { useBlocker } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createStore } from '../store.js';

/* A prompt before the page drops text that the person has entered. */

type UnsavedPrompt = { readonly leave: () => void; readonly stay: () => void };

const prompt = createStore<UnsavedPrompt | null>(null);

/** The prompt that is open. The layout shows it. */
export const useUnsavedPrompt = prompt.useValue;

/** Asks whether to lose what is entered. */
export const promptToLeave = (leave: () => void, stay: () => void = () => undefined): void =>
  prompt.set({ leave, stay });

export const closePrompt = (): void => prompt.set(null);

/** Asks before another screen replaces what the person has entered. */
export const useUnsavedGuard = (isUnsaved: boolean): void => {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    disabled: !isUnsaved,
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  useEffect(() => {
    if (status === 'blocked') promptToLeave(proceed, reset);
  }, [status, proceed, reset]);
};
