import type { Actor } from '#api/access';
import type { Sql } from '#platform/kernel';
import type { RelatedResources } from '#api/json-api';

/** A port to the module of organizations, for documents of memberships: this module has only the ids. */
export abstract class MembershipOrganizations {
  /** Returns the organizations that the caller may read. */
  abstract related(organizations: Sql, actor: Actor): RelatedResources;
}
