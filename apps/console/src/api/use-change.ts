import { useMutation, type UseMutationOptions, type UseMutationResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { showToast } from '../components/toasts.js';
import { describeChangeError } from './api-error.js';

type ChangeCallbacks<T> = {
  readonly onSuccess?: (data: T) => void;
  /** Without it, the component shows `error`. If the component has left the screen, a message shows it. */
  readonly onError?: (error: Error) => void;
};

type ChangeMutation<T, V> = Omit<UseMutationResult<T, Error, V>, 'mutate' | 'mutateAsync'> & {
  readonly mutate: (variables: V, callbacks?: ChangeCallbacks<T>) => void;
};

const isStopped = (error: Error): boolean => error.name === 'AbortError';

/**
 * A change that the person makes. It differs from `useMutation` in two ways: the callbacks run even if the component leaves the
 * screen before the answer, and a second click before the answer sends nothing.
 */
export const useChange = <T, V = void>(options: UseMutationOptions<T, Error, V>): ChangeMutation<T, V> => {
  const { mutateAsync, ...mutation } = useMutation(options);
  const isOnScreen = useRef(false);
  const isSending = useRef(false);
  useEffect(() => {
    isOnScreen.current = true;
    return () => void (isOnScreen.current = false);
  }, []);
  const handleError = (error: Error): void => {
    if (!isOnScreen.current && !isStopped(error)) showToast({ kind: 'error', message: describeChangeError(error) });
  };
  const send = async (variables: V, { onSuccess, onError = handleError }: ChangeCallbacks<T>): Promise<void> => {
    isSending.current = true;
    const answer = mutateAsync(variables).finally(() => (isSending.current = false));
    await answer.then(onSuccess, onError);
  };
  return {
    ...mutation,
    mutate: (variables, callbacks = {}) => {
      if (!isSending.current) void send(variables, callbacks);
    },
  };
};
