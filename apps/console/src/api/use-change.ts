import {
  useMutation,
  useQueryClient,
  type QueryKey,
  type UseMutationOptions,
  type UseMutationResult,
} from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { showToast } from '../toasts.js';
import { ApiError, describeChangeError } from './api-error.js';

type ChangeCallbacks<T> = {
  readonly onSuccess?: (data: T) => void;
  /** Without it, the component shows `error`. If the component has left the screen, a message shows it. */
  readonly onError?: (error: Error) => void;
};

type ChangeOptions<T, V> =
  | (UseMutationOptions<T, Error, V> & { readonly rereads?: never })
  | (Omit<UseMutationOptions<T, Error, V>, 'onSettled'> & {
      /** The start of the keys of what the change concerns. The change is pending until it is read again. */
      readonly rereads: QueryKey;
    });

type ChangeMutation<T, V> = Omit<UseMutationResult<T, Error, V>, 'mutate' | 'mutateAsync'> & {
  readonly mutate: (variables: V, callbacks?: ChangeCallbacks<T>) => void;
};

const isStopped = (error: Error): boolean => error.name === 'AbortError';

/** Returns whether nothing is different after the change, because the server has refused what the person has entered. */
const isInvalid = (error: Error | null): boolean => error instanceof ApiError && error.status === 422;

/**
 * A change that the person makes. It differs from `useMutation` in two ways: the callbacks run even if the component leaves the
 * screen before the answer, and a second click before the answer sends nothing.
 */
export const useChange = <T, V = void>({ rereads, ...options }: ChangeOptions<T, V>): ChangeMutation<T, V> => {
  const queries = useQueryClient();
  const readAgain = (_data: T | undefined, error: Error | null): Promise<void> | undefined => {
    if (rereads === undefined || isInvalid(error)) return undefined;
    const reading = queries.invalidateQueries({ queryKey: rereads });
    // The person sees a failure at once.
    return error ? undefined : reading;
  };
  const { mutateAsync, ...mutation } = useMutation({ onSettled: readAgain, ...options });
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
