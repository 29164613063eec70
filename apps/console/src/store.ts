import { useSyncExternalStore } from 'react';

/** A value that components and other code share. Components render again when it changes. */
type Store<T> = {
  readonly get: () => T;
  readonly set: (value: T) => void;
  /** Returns the present value. For components. */
  readonly useValue: () => T;
};

export const createStore = <T>(initial: T): Store<T> => {
  const state = { value: initial, listeners: new Set<() => void>() };
  const get = (): T => state.value;
  const subscribe = (listener: () => void) => {
    state.listeners.add(listener);
    return () => void state.listeners.delete(listener);
  };
  return {
    get,
    set: (value) => {
      state.value = value;
      for (const listener of state.listeners) listener();
    },
    useValue: () => useSyncExternalStore(subscribe, get),
  };
};
