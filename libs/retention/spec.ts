import { Clock } from '#kernel';

/** What this slice's specs share. */
export const deleteOlders = (days: unknown): object => ({
  data: { type: 'data-retention-policy-delete-olders', attributes: { 'delete-older-than-n-days': days } },
});

export const dontDeletes: object = { data: { type: 'data-retention-policy-dont-deletes' } };

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Stands still, and is moved by days. */
export class Calendar extends Clock {
  private time = Date.parse('2026-01-01T12:00:00.000Z');

  override now(): Date {
    return new Date(this.time);
  }

  pass(days: number): void {
    this.time += days * DAY_MS;
  }
}
