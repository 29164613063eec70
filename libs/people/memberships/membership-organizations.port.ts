import type { Actor } from '#access';
import type { Sql } from '#kernel';
import type { RelatedResources } from '#json-api';

/** A port to the module of organizations, for documents of memberships: this module has only the ids. */
export abstract class MembershipOrganizations {
  /** Returns the organizations that the caller may read. */
  abstract related(organizations: Sql, actor: Actor): RelatedResources;
}
