import { z } from 'zod';
import {
  checkName,
  conflict,
  defineEvents,
  hasNoChanges,
  PATH_NAME_RULE,
  pickChanged,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization } from '#api/access/rules';
import { ENFORCEMENT_LEVELS, type EnforcementLevel } from '#runs/run-tasks/rules';

export type PolicyAttributes = {
  /** Nobody changes it. */
  readonly name: string;
  readonly description: string;
  /** What OPA evaluates, such as `data.terraform.deny`. */
  readonly query: string;
  readonly enforcementLevel: EnforcementLevel;
};

const attributes = {
  name: z.string(),
  description: z.string(),
  query: z.string(),
  enforcementLevel: z.enum(ENFORCEMENT_LEVELS),
};

const meta = ({ name, query, enforcementLevel }: PolicyAttributes) => ({
  policy_name: name,
  policy_kind: 'opa',
  policy_query: query,
  policy_enforcement_level: enforcementLevel,
});

/**
 * A rule in Rego about the plans of an organization. The vault stores its text under the id of the policy, and events contain
 * only the digest of the text.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export const policyEvents = defineEvents(
  { topic: 'policies', stream: 'pol', audited: 'policy', live: inOrganization('policies', 'read-policies') },
  {
    PolicyCreated: { schema: z.strictObject(attributes), audit: { action: 'create', meta }, live: 'created' },
    /** With all attributes, because the trail shows them. */
    PolicyUpdated: { schema: z.strictObject(attributes), audit: { action: 'update', meta }, live: 'changed' },
    PolicyUploaded: {
      schema: z.strictObject({ ...attributes, sha256: z.string(), size: z.int() }),
      audit: {
        action: 'update',
        meta: ({ sha256, size, ...policy }) => ({ ...meta(policy), policy_digest: sha256, policy_size: size }),
      },
      live: 'changed',
    },
    PolicyDeleted: { schema: z.strictObject(attributes), audit: { action: 'destroy', meta }, live: 'deleted' },
  },
);

export type PolicyEvent = EventsOf<typeof policyEvents>;

type PolicyCommand =
  | Message<'CreatePolicy', PolicyAttributes>
  | Message<'UpdatePolicy', Partial<Omit<PolicyAttributes, 'name'>>>
  | Message<'UploadPolicy', { sha256: string; size: number }>
  | Message<'DeletePolicy', Record<never, never>>;

type ActivePolicy = PolicyAttributes & { readonly status: 'active'; readonly sha256: string | null };
type PolicyState = { readonly status: 'absent' | 'deleted' } | ActivePolicy;

const NAME_RULE = { ...PATH_NAME_RULE, most: 255 };
const MAX_DESCRIPTION = 1_000;
/** A run stores the names and queries of all its policies in one event, whose size is limited. */
const MAX_QUERY = 255;

const checkQuery = ({ query }: PolicyAttributes): void => {
  if (query.trim() === '') throw unprocessable('Query must name a rule, such as data.terraform.deny', 'query');
  if (query.length > MAX_QUERY)
    throw unprocessable(`Query is too long (at most ${MAX_QUERY} characters), got ${query.length}`, 'query');
  if (!/^[\x20-\x7e]*$/.test(query)) throw unprocessable('Query must consist of printable ASCII characters', 'query');
  // OPA reads an argument that begins with a hyphen as an option.
  if (query.startsWith('-')) throw unprocessable("Query must not begin with '-'", 'query');
};

const checkDescription = ({ description: { length } }: PolicyAttributes): void => {
  if (length <= MAX_DESCRIPTION) return;
  throw unprocessable(`Description is too long (at most ${MAX_DESCRIPTION} characters), got ${length}`, 'description');
};

const checkPolicy = (policy: PolicyAttributes): void =>
  runAllChecks(
    () => checkName(policy.name, NAME_RULE),
    () => checkQuery(policy),
    () => checkDescription(policy),
  );

const getAttributes = ({ status: _status, sha256: _sha256, ...policy }: ActivePolicy): PolicyAttributes => policy;

export const policy: Decider<PolicyState, PolicyCommand, PolicyEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreatePolicy: (data, state) => {
      if (state.status !== 'absent') throw conflict('Policy exists already');
      checkPolicy(data);
      return [{ type: 'PolicyCreated', data }];
    },
    UpdatePolicy: (changes, state) => {
      const before = getAttributes(requireActive(state));
      const data = { ...before, ...changes };
      checkPolicy(data);
      return hasNoChanges(pickChanged(before, data)) ? [] : [{ type: 'PolicyUpdated', data }];
    },
    UploadPolicy: (upload, state) => {
      const active = requireActive(state);
      if (active.sha256 === upload.sha256) return [];
      return [{ type: 'PolicyUploaded', data: { ...getAttributes(active), ...upload } }];
    },
    DeletePolicy: (_, state) => [{ type: 'PolicyDeleted', data: getAttributes(requireActive(state)) }],
  },
  evolve: {
    PolicyCreated: (created) => ({ status: 'active', ...created, sha256: null }),
    PolicyUpdated: (after, state) => ({ sha256: null, ...state, status: 'active', ...after }),
    PolicyUploaded: ({ size: _size, ...after }) => ({ status: 'active', ...after }),
    PolicyDeleted: () => ({ status: 'deleted' }),
  },
};
