import type { EventStore } from '#event-store';

/** Has something happen between what the next request shows and what it appends of that. */
export const meanwhileShown = (store: EventStore, happens: () => Promise<unknown>): void => {
  const append = store.appendOnce.bind(store);
  store.appendOnce = async (...appended) => {
    store.appendOnce = append;
    await happens();
    return append(...appended);
  };
};

/** Has something happen between what the next command reads and what it appends. */
export const runBetween = (store: EventStore, happens: () => Promise<unknown>): void => {
  const append = store.append.bind(store);
  store.append = async (...appended) => {
    store.append = append;
    await happens();
    return append(...appended);
  };
};
