import { toLabel } from '../text/attribute-names.js';
import { unprocessable } from '../errors/refusal.js';

/** What names of one kind look like. */
export type NameRule = {
  /** What the API calls it. */
  readonly attribute?: string;
  /** Matches the whole of a good name; without one, any text is good. */
  readonly pattern?: RegExp;
  /** Completes `Name may only contain …`. */
  readonly allowed?: string;
  readonly least?: number;
  readonly most: number;
};

/** Of most names: they stand in paths. */
export const PATH_NAME_RULE = {
  pattern: /^[A-Za-z0-9_-]+$/,
  allowed: 'letters, numbers, dashes and underscores',
} as const;

/** Texts are those in use (clients.md §2). */
export const checkName = (name: string, rule: NameRule): void => {
  const { attribute = 'name', pattern, allowed = '', least = 1, most } = rule;
  const refuse = (what: string) => unprocessable(`${toLabel(attribute)} ${what}`, attribute);
  if (name.trim() === '') throw refuse("can't be blank");
  if (pattern && !pattern.test(name)) throw refuse(`may only contain ${allowed}`);
  if (name.length < least) throw refuse(`is too short (at least ${least} characters)`);
  if (name.length > most) throw refuse(`is too long (at most ${most} characters)`);
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
