import type { ScimOperation } from '../protocol/scim-bodies.js';
import { matchesFilter, type ScimFilter } from '../protocol/scim-filter.js';
import { isRecord, listPatchSteps, listValues, readSingleValue, type PatchStep } from '../protocol/scim-patch.js';
import { ScimRefusal } from '../protocol/scim-refusal.js';

/** An address in a patch. Its values are checked after the patch. */
type PatchedEmail = { readonly value?: unknown; readonly type?: unknown; readonly primary?: unknown };

/** The attributes of a user that a patch can change. */
export type PatchedUser = {
  readonly userName: unknown;
  readonly externalId: unknown;
  readonly active: unknown;
  readonly emails: readonly PatchedEmail[];
};

const NAMES = ['userName', 'externalId', 'active', 'emails'];
const EMAIL_PARTS = ['value', 'type', 'primary'] as const;

/** Returns the attributes of the user after the patch. They are not valid yet. */
export const patchUser = (present: PatchedUser, operations: readonly ScimOperation[]): PatchedUser =>
  listPatchSteps(operations, NAMES).reduce<PatchedUser>(
    (user, step) =>
      step.name === 'emails'
        ? { ...user, emails: patchEmails(user.emails, step) }
        : { ...user, [step.name]: readSingleValue(step) },
    present,
  );

const patchEmails = (emails: readonly PatchedEmail[], step: PatchStep): readonly PatchedEmail[] => {
  const { op, filter, part, value } = step;
  if (filter === null && part === null) {
    const values = listValues(value);
    if (op === 'replace') return values.map(toEmail);
    if (op === 'add') return addEmails(emails, values.map(toEmail));
    return value === undefined
      ? []
      : emails.filter((email) => !values.map(toEmail).some((one) => one.value === email.value));
  }
  const isTarget = (email: PatchedEmail): boolean => filter === null || matchesFilter(filter, email);
  if (op === 'remove') {
    return part === null
      ? emails.filter((email) => !isTarget(email))
      : emails.map((email) => (isTarget(email) ? { ...email, ...toParts(part, undefined) } : email));
  }
  const changes = part === null ? toEmail(value) : toParts(part, value);
  if (emails.some(isTarget)) return emails.map((email) => (isTarget(email) ? { ...email, ...changes } : email));
  return addEmails(emails, [{ ...toMatchingEmail(filter), ...changes }]);
};

/** A new primary address replaces the present one in this role (RFC 7644 §3.5.2). */
const addEmails = (emails: readonly PatchedEmail[], added: readonly PatchedEmail[]): readonly PatchedEmail[] => [
  ...(added.some(({ primary }) => primary === true) ? emails.map((email) => ({ ...email, primary: false })) : emails),
  ...added,
];

const toEmail = (value: unknown): PatchedEmail => {
  if (!isRecord(value)) throw new ScimRefusal('invalidValue', 'emails: an address must be an object with a value');
  return Object.fromEntries(EMAIL_PARTS.filter((part) => value[part] !== undefined).map((part) => [part, value[part]]));
};

/** Parts that the server does not store, such as `display`, change nothing. */
const toParts = (part: string, value: unknown): PatchedEmail => {
  const name = EMAIL_PARTS.find((one) => one.toLowerCase() === part.toLowerCase());
  return name === undefined ? {} : { [name]: value };
};

/** Identity providers set a value before it exists: `emails[type eq "work"].value` creates the address. */
const toMatchingEmail = (filter: ScimFilter | null): PatchedEmail => {
  if (filter === null) return {};
  if (filter.op === 'eq') return toParts(filter.path, filter.value);
  if (filter.op !== 'and') throw new ScimRefusal('noTarget', 'path: no address matches the filter');
  return Object.assign({}, ...filter.filters.map(toMatchingEmail)) as PatchedEmail;
};
