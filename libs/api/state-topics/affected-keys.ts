import { isAfter } from '#storage/event-store';
import type { LogPosition } from '#platform/kernel';
import type { PublishedResource } from './published-resource.js';
import type { PositionedEvent } from './referenced-events.js';

/** Why a document is read: the last event that can have changed it, and the highest position of such an event. */
export type ReadCause = {
  readonly organization: string;
  /** Null if the document must be read, whatever is known about it. */
  readonly transaction: string | null;
  readonly position: number;
};

/** The documents of one kind that some events can have changed. */
export type AffectedKeys = {
  readonly keys: Map<string, ReadCause>;
  readonly projects: Map<string, ReadCause>;
  readonly organizations: Map<string, ReadCause>;
};

const toPosition = ({ transaction, position }: ReadCause): LogPosition => ({
  transaction: transaction ?? '0',
  position,
});

/** Returns the later of two causes. */
export const mergeCauses = (a: ReadCause | undefined, b: ReadCause): ReadCause => {
  if (!a) return b;
  const later = isAfter(toPosition(b), toPosition(a)) ? b : a;
  const transaction = a.transaction === null || b.transaction === null ? null : later.transaction;
  return { organization: later.organization, transaction, position: Math.max(a.position, b.position) };
};

const add = (causes: Map<string, ReadCause>, key: string, cause: ReadCause): void => {
  causes.set(key, mergeCauses(causes.get(key), cause));
};

/** Groups what events affect, so that many changes of a resource read its document once. */
export const groupAffected = (
  resource: Pick<PublishedResource, 'findAffected'>,
  events: readonly PositionedEvent[],
): AffectedKeys => {
  const affected: AffectedKeys = { keys: new Map(), projects: new Map(), organizations: new Map() };
  for (const event of events) {
    const { organization, transaction, position } = event;
    const cause = { organization, transaction, position };
    const scope = resource.findAffected(event);
    if (scope.in === 'organization') add(affected.organizations, organization, cause);
    else if (scope.in === 'project') add(affected.projects, scope.project, cause);
    else for (const key of scope.keys) add(affected.keys, key, cause);
  }
  return affected;
};
