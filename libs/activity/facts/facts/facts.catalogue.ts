import { z } from 'zod';

// The entries of the audit trail about resources that Cadastre does not own. Services report them as facts. Readers of
// the trail expect `meta` with exactly these names and types.

/** Metadata of an entry that has only the standard fields: any key-value pairs of the service, or null. */
const standard = z
  .record(
    z.string().min(1).max(100),
    z.union([z.string(), z.number(), z.boolean(), z.null()], {
      error: 'must be a string, a number, true, false or null',
    }),
  )
  .nullable()
  .default(null);

const text = z.string();
const integer = z.int();
const comment = z.string().nullable().default(null);
const idAndName = z.strictObject({ id: text, name: text });
const run = z.strictObject({ id: text, message: text });

const check = { comment, run, workspace: idAndName };
const verdict = z.strictObject({
  ...check,
  // The fields of a result differ between services, so any object is accepted.
  result: z.array(z.record(z.string(), z.unknown())),
  passed: integer,
  total_failed: integer,
  hard_failed: integer,
  soft_failed: integer,
  advisory_failed: integer,
  duration_ms: integer,
  sentinel: text,
});
const ended = z.strictObject({ ...check, actor: text });

/** Schemas of `meta` by resource type and action. */
export const CATALOGUE = {
  policy_check: {
    // Some services report fields for an override as for all policy checks, others none. Both forms are accepted.
    override: z.strictObject(check).nullable().default(null),
    passed: verdict,
    soft_failed: verdict,
    hard_failed: verdict,
    errored: verdict,
    overridden: ended,
    canceled: ended,
    force_canceled: ended,
  },
  policy_config: { create: standard },
  policy_version: { create: standard },
  stack: { create: standard },
} as const satisfies Readonly<Record<string, Readonly<Record<string, z.ZodType>>>>;

/**
 * Resource types that Cadastre owns and records itself. Accepting facts of these types would allow forged entries. A
 * test compares the list with the audit rows of all events.
 */
export const OWN_RESOURCE_TYPES: ReadonlySet<string> = new Set([
  'agent',
  'agent_pool',
  'audit_configuration',
  'audit_trail_log',
  'audit_trail_log_key',
  'authentication_token',
  'cidr_range_list',
  'configuration_version',
  'data_retention_policy',
  'general_settings',
  'gpg_key',
  'identity_provider',
  'notification_configuration',
  'oauth_client',
  'oauth_token',
  'oidc_key',
  'opa_version',
  'organization',
  'organization_user',
  'policy',
  'policy_evaluation',
  'policy_set',
  'project',
  'registry_module',
  'registry_provider',
  'registry_provider_platform',
  'registry_provider_version',
  'reserved_tag_key',
  'run',
  'run_trigger',
  'saml_configuration',
  'saved_view',
  'scim_group',
  'session',
  'sign_in',
  'sign_in_methods',
  'ssh_key',
  'state_version',
  'task',
  'task_result',
  'task_stage',
  'team',
  'terraform_version',
  'user',
  'var',
  'varset',
  'vcs_repo',
  'workload_identity',
  'workspace',
  'workspace_comment',
  'workspace_task',
]);

export type CatalogueRow = { readonly type: string; readonly action: string; readonly meta: z.ZodType };

export const CATALOGUE_ROWS: readonly CatalogueRow[] = Object.entries(CATALOGUE).flatMap(([type, actions]) =>
  Object.entries(actions).map(([action, meta]) => ({ type, action, meta: meta as z.ZodType })),
);

export const formatRowName = ({ type, action }: Pick<CatalogueRow, 'type' | 'action'>): string => `${type}.${action}`;
