import { formatTimestamp, type Clock, type Timestamp } from '#platform/kernel';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** What is not as it was before the deletion. `field`: its name in the document of the resource. */
export type RecoveryChange = { readonly field: string; readonly detail: string };

/** The result of a recovery: the resource, and what differs. */
export type RecoveredResource = {
  readonly name: string;
  readonly project: string | null;
  readonly changes: readonly RecoveryChange[];
};

/** The time in which deleted resources can be recovered. */
export class RecoveryPeriod {
  constructor(
    private readonly clock: Clock,
    private readonly days: number,
  ) {}

  /** Returns until when a resource that is deleted now can be recovered; null if deletions are final. */
  computeEnd(): Timestamp | null {
    return this.days === 0 ? null : formatTimestamp(this.clock.now().getTime() + this.days * DAY_MS);
  }
}
