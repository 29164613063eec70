import type { EventStore } from '#storage/event-store';

/** Runs an action between the read of the next request and the append that records the read. */
export const meanwhileShown = (store: EventStore, happens: () => Promise<unknown>): void => {
  const append = store.appendOnce.bind(store);
  store.appendOnce = async (...appended) => {
    store.appendOnce = append;
    await happens();
    return append(...appended);
  };
};

/** Runs an action between the read and the append of the next command. */
export const runBetween = (store: EventStore, happens: () => Promise<unknown>): void => {
  const append = store.append.bind(store);
  store.append = async (...appended) => {
    store.append = append;
    await happens();
    return append(...appended);
  };
};
