import { sql, type Sql } from '#platform/kernel';
import { selectEncryptedSecret } from '#storage/vault';

const hasMember = (relation: string, member: string): string =>
  `exists (select 1 from policy_set_members m
            where m.policy_set = ps.id and m.relation = '${relation}' and m.member = ${member})`;

/** Whether the policy set `ps` belongs to the workspace `w`. An exclusion counts more than everything else. */
const IS_ENFORCED = `(ps.global or ${hasMember('workspaces', 'w.id')} or ${hasMember('projects', 'w.project')})
  and not ${hasMember('workspace-exclusions', 'w.id')} and not ${hasMember('project-exclusions', 'w.project')}`;

/** Returns a condition: whether the policy set `t` belongs to a workspace. */
export const belongsToWorkspace = (workspace: string): Sql => sql`t.id in (
  select ps.id from workspaces w join policy_sets ps on ps.organization = w.organization
   where w.id = ${workspace} and ${sql.raw(IS_ENFORCED)})`;

/** Returns an expression for the policy sets of the workspace `w` that have policies, as EnforcedPolicySet[]. */
export const SELECT_ENFORCED_POLICIES: Sql = sql.raw(`(
  select coalesce(jsonb_agg(jsonb_build_object(
           'policySet', ps.id, 'policySetName', ps.name, 'overridable', ps.overridable,
           'toolVersion', ps.tool_version, 'policies', listed.policies) order by ps.name, ps.id), '[]')
    from policy_sets ps
   cross join lateral (
     select jsonb_agg(jsonb_build_object(
              'policy', p.id, 'policyName', p.name, 'query', p.query,
              'enforcementLevel', p.enforcement_level, 'sha256', p.sha256) order by p.name, p.id) as policies
       from policy_set_members m join policies p on p.id = m.member
      where m.policy_set = ps.id and m.relation = 'policies') listed
   where ps.organization = w.organization and listed.policies is not null and ${IS_ENFORCED})`);

/** Returns a condition: whether the workspace `w` has a policy set with policies. */
export const HAS_ENFORCED_POLICIES: Sql = sql.raw(`exists (
  select 1 from policy_sets ps
   where ps.organization = w.organization and ${IS_ENFORCED}
     and exists (select 1 from policy_set_members m join policies p on p.id = m.member
                  where m.policy_set = ps.id and m.relation = 'policies'))`);

/** The encrypted text of a policy in base64; null if the vault has none, as after the restore of a backup. */
export type EncryptedPolicyText = { readonly policy: string; readonly encryptedText: string | null };

/** Returns an expression for the texts of all policies of the sets of the workspace `w`, as EncryptedPolicyText[]. */
export const SELECT_POLICY_TEXTS: Sql = sql`(
  select coalesce(jsonb_agg(jsonb_build_object('policy', p.id, 'encryptedText', ${selectEncryptedSecret(sql.raw('p.id'))})), '[]')
    from policies p
   where p.sha256 is not null and p.id in (
     select m.member from policy_set_members m join policy_sets ps on ps.id = m.policy_set
      where m.relation = 'policies' and ps.organization = w.organization and ${sql.raw(IS_ENFORCED)}))`;

/** Returns an expression for the descriptions of the policies and policy sets of an organization, by id, without empty ones. */
export const selectPolicyDescriptions = (organization: string): Sql =>
  sql.raw(`(
  select coalesce(jsonb_object_agg(d.id, d.description), '{}')
    from (select p.id, p.description from policies p where p.organization = ${organization}
           union all select ps.id, ps.description from policy_sets ps where ps.organization = ${organization}) d
   where d.description <> '')`);
