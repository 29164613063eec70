import type { EventKind, EventRegistry } from '#kernel';

/** Throws for a type that no module of this build has. */
export const getEventKind = (kinds: EventRegistry, type: string): EventKind<never> => {
  const kind = kinds[type];
  if (!kind) throw new Error(`unknown event type ${type}`);
  return kind;
};
