import { unprocessable } from './refused.js';

/** What names of one kind look like. */
export type NameRule = {
  /** Matches the whole of a good name. */
  readonly pattern: RegExp;
  /** Completes `Name may only contain …`. */
  readonly allowed: string;
  readonly least?: number;
  readonly most: number;
};

/** Of most names: they stand in paths. */
export const IN_PATHS = { pattern: /^[A-Za-z0-9_-]+$/, allowed: 'letters, numbers, dashes and underscores' } as const;

/** Texts are those in use (clients.md §2). */
export const checkName = (name: string, { pattern, allowed, least = 1, most }: NameRule): void => {
  if (name.trim() === '') throw unprocessable("Name can't be blank", 'name');
  if (!pattern.test(name)) throw unprocessable(`Name may only contain ${allowed}`, 'name');
  if (name.length < least) throw unprocessable(`Name is too short (at least ${least} characters)`, 'name');
  if (name.length > most) throw unprocessable(`Name is too long (at most ${most} characters)`, 'name');
};

const DURATION = /^[0-9]{1,4}[dh]$/;

/** How long workspaces may lie idle before they are destroyed; null and absent say nothing. */
export const checkAutoDestroyDuration = (duration: string | null | undefined): void => {
  if (duration && (!DURATION.test(duration) || Number.parseInt(duration, 10) === 0)) {
    throw unprocessable(
      "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
      'auto-destroy-activity-duration',
    );
  }
};
