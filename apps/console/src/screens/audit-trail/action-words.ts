/** Types of the trail that differ from words for people in more than an underscore. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['authentication_token', 'token'],
  ['cidr_range_list', 'IP allowlist'],
  ['gpg_key', 'GPG key'],
  ['notification_configuration', 'notification'],
  ['oauth_client', 'OAuth client'],
  ['oauth_token', 'OAuth token'],
  ['organization_user', 'membership'],
  ['policy_config', 'policy configuration'],
  ['registry_module', 'module'],
  ['registry_provider', 'provider'],
  ['registry_provider_platform', 'platform of a provider'],
  ['registry_provider_version', 'version of a provider'],
  ['saml_configuration', 'SAML configuration'],
  ['scim_group', 'group of the identity provider'],
  ['sign_in', 'person'],
  ['ssh_key', 'SSH key'],
  ['state_version', 'state'],
  ['task', 'run task'],
  ['task_result', 'result of a run task'],
  ['task_stage', 'stage of run tasks'],
  ['var', 'variable'],
  ['varset', 'variable set'],
  ['vcs_repo', 'repository'],
  ['workspace_comment', 'comment on a workspace'],
  ['workspace_task', 'run task of a workspace'],
]);

/** The types of entries about lists, in the plural. Others end with an s. */
const PLURALS: ReadonlyMap<string, string> = new Map([['user', 'people']]);

/** Actions of the trail that differ from words for people in more than an underscore. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['add_member', 'member added'],
  ['add_team', 'team added'],
  // A person confirms a run; its executor applies it.
  ['apply', 'confirmed'],
  ['archive', 'archived'],
  ['callback', 'answered'],
  ['cancel', 'canceled'],
  ['confirm', 'confirmed'],
  ['create', 'created'],
  ['create_link', 'link created'],
  ['deprovision', 'deprovisioned'],
  ['destroy', 'deleted'],
  ['destroy_version', 'version deleted'],
  ['disable', 'disabled'],
  ['discard', 'discarded'],
  ['download', 'downloaded'],
  ['enable', 'enabled'],
  ['force_cancel', 'canceled by force'],
  ['force_canceled', 'canceled by force'],
  ['force_execute', 'started before others'],
  ['force_unlock', 'unlocked by force'],
  ['forget', 'forgotten'],
  ['grant_admin', 'made a site administrator'],
  ['index', 'listed'],
  ['issue_token', 'token issued'],
  ['link_identity', 'identity linked'],
  ['lock', 'locked'],
  ['lose_executor', 'executor lost'],
  ['override', 'overridden'],
  ['permanently_delete_backing_data', 'data deleted permanently'],
  ['provision', 'provisioned'],
  ['publish', 'published'],
  ['refuse', 'refused'],
  ['remove_member', 'member removed'],
  ['remove_team', 'team removed'],
  ['replace_archive', 'archive replaced'],
  ['restore_backing_data', 'data restored'],
  ['revoke_admin', 'no longer a site administrator'],
  ['show', 'read'],
  ['sign_in_failed', 'sign-in failed'],
  ['soft_delete_backing_data', 'data deleted, and can be restored'],
  ['suspend', 'suspended'],
  ['test', 'tested'],
  ['unlink_identity', 'identity unlinked'],
  ['unlock', 'unlocked'],
  ['unsuspend', 'no longer suspended'],
  ['update', 'changed'],
  ['update_members', 'members changed'],
  ['update_provisioning', 'provisioning changed'],
  ['update_team_permissions', 'permissions of a team changed'],
  ['upload', 'uploaded'],
]);

/** `agent_pool` is shown as `agent pool`. */
const formatWords = (text: string): string => text.replaceAll('_', ' ');

/** Returns the subject of an entry, such as `variables` for the list of them, and `variable` for every other action. */
export const formatSubject = ({ type, action }: { readonly type: string; readonly action: string }): string => {
  const one = TYPES.get(type) ?? formatWords(type);
  return action === 'index' ? (PLURALS.get(type) ?? `${one}s`) : one;
};

/** Returns what happened to the resource, such as `listed` for `index`. */
export const formatAction = (action: string): string => WORDS.get(action) ?? formatWords(action);
