/** What a message of the live stream names. An `access` message can have no resource. */
export type LiveMessage = { readonly resource?: { readonly type: string; readonly id: string } };

/** Messages about a resource. */
export const CHANGE_EVENTS = ['created', 'changed', 'deleted'];

/** Messages after which everything can be different. */
export const RESET_EVENTS = ['ready', 'access', 'reset'];
