/** A message of the live stream. An `access` message can have no resource. */
export type LiveMessage = { readonly resource?: { readonly type: string; readonly id: string } };

/** Messages about a resource. */
export const CHANGE_EVENTS = ['created', 'changed', 'deleted'];

/** Messages after which everything can be different. */
export const RESET_EVENTS = ['ready', 'access', 'reset'];

/** Messages after which the person may not be allowed to read what the screen shows. */
export const ACCESS_EVENTS: ReadonlySet<string> = new Set(['access', 'reset']);
