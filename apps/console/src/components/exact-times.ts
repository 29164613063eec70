import { createStore } from '../store.js';

const STORAGE_KEY = 'exact-times';

const choice = createStore(localStorage.getItem(STORAGE_KEY) === 'on');

// The choice in another tab applies here too.
addEventListener('storage', ({ key, newValue }) => {
  if (key === STORAGE_KEY) choice.set(newValue === 'on');
});

/** Returns whether the reader wants dates and times instead of distances such as `3 minutes ago`. */
export const useExactTimes = choice.useValue;

export const setExactTimes = (isExact: boolean): void => {
  localStorage.setItem(STORAGE_KEY, isExact ? 'on' : 'off');
  choice.set(isExact);
};
