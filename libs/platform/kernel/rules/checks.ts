import { toLabel } from '../text/attribute-names.js';
import { unprocessable } from '../errors/refusal.js';

type NameRule = {
  /** Attribute name in the API. Default: `name`. */
  readonly attribute?: string;
  /** Must match the complete name. Without a pattern, any text is valid. */
  readonly pattern?: RegExp;
  /** Completes `Name may only contain …`. */
  readonly allowed?: string;
  readonly least?: number;
  readonly most: number;
};

/** The rule for names that appear in URL paths, which are most names. */
export const PATH_NAME_RULE = {
  pattern: /^[A-Za-z0-9_-]+$/,
  allowed: 'letters, numbers, dashes and underscores',
} as const;

/** Throws 422 for an invalid name. Clients know these texts. */
export const checkName = (name: string, rule: NameRule): void => {
  const { attribute = 'name', pattern, allowed = '', least = 1, most } = rule;
  const refuse = (what: string) => unprocessable(`${toLabel(attribute)} ${what}`, attribute);
  if (name.trim() === '') throw refuse("can't be blank");
  if (pattern && !pattern.test(name)) throw refuse(`may only contain ${allowed}`);
  if (name.length < least) throw refuse(`is too short (at least ${least} characters)`);
  if (name.length > most) throw refuse(`is too long (at most ${most} characters)`);
};

const DURATION = /^[0-9]{1,4}[dh]$/;

/** Checks the time after which idle workspaces are destroyed. Null and undefined are valid. */
export const checkAutoDestroyDuration = (duration: string | null | undefined): void => {
  if (duration && (!DURATION.test(duration) || Number.parseInt(duration, 10) === 0)) {
    throw unprocessable(
      "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
      'auto-destroy-activity-duration',
    );
  }
};
