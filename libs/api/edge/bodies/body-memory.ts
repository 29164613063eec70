import { Refusal, unavailable } from '#platform/kernel';

/** A body whose first bytes have arrived and whose end has not. */
export type UnfinishedBody = {
  readonly caller: string;
  /** Set by BodyMemory. */
  bytes: number;
  /** Stops reading the body and drops its bytes. It must remove the body from the BodyMemory. */
  readonly refuse: (refusal: Refusal) => void;
};

export type BodyMemoryLimits = {
  /** Bytes of all unfinished bodies together. */
  readonly total: number;
  /** Bytes of one caller's unfinished bodies. */
  readonly perCaller: number;
};

type CallerShare = { bytes: number; readonly bodies: Set<UnfinishedBody> };

const RETRY_AFTER_SECONDS = 1;

const createCallerMemoryRefusal = (): Refusal =>
  new Refusal(
    'too-many',
    [{ detail: 'Your unfinished requests hold too much memory. Send fewer large requests at the same time.' }],
    RETRY_AFTER_SECONDS,
  );

const createMemoryFullRefusal = (): Refusal =>
  unavailable('Unfinished requests hold too much memory. Please try again.', RETRY_AFTER_SECONDS);

const findLargest = <T extends { readonly bytes: number }>(items: Iterable<T>): T | undefined => {
  let largest: T | undefined;
  for (const item of items) if (!largest || item.bytes > largest.bytes) largest = item;
  return largest;
};

/**
 * Limits the memory of bodies that have not arrived completely. If a caller exceeds its share, the body that exceeds it
 * is refused. If all bodies together are too large, the largest body of the caller with the most bytes is refused. So a
 * caller with a small request is never refused because of other callers.
 */
export class BodyMemory {
  private readonly shares = new Map<string, CallerShare>();
  private total = 0;

  constructor(private readonly limits: BodyMemoryLimits) {}

  /** Counts bytes that have arrived for this body. May refuse this body or another one. */
  add(body: UnfinishedBody, bytes: number): void {
    const share = this.shareOf(body);
    share.bodies.add(body);
    body.bytes += bytes;
    share.bytes += bytes;
    this.total += bytes;
    if (share.bytes > this.limits.perCaller) body.refuse(createCallerMemoryRefusal());
    else if (this.total > this.limits.total) this.largestBody()?.refuse(createMemoryFullRefusal());
  }

  /** Stops counting a body that is complete, refused or interrupted. */
  remove(body: UnfinishedBody): void {
    const share = this.shares.get(body.caller);
    if (!share?.bodies.delete(body)) return;
    share.bytes -= body.bytes;
    this.total -= body.bytes;
    if (share.bodies.size === 0) this.shares.delete(body.caller);
  }

  private shareOf({ caller }: UnfinishedBody): CallerShare {
    const share = this.shares.get(caller) ?? { bytes: 0, bodies: new Set() };
    this.shares.set(caller, share);
    return share;
  }

  private largestBody(): UnfinishedBody | undefined {
    return findLargest(findLargest(this.shares.values())?.bodies ?? []);
  }
}
