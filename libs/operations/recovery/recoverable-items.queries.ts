import { sql, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import {
  isPermittedBy,
  listInOrganization,
  selectProjectGrants,
  selectWorkspaceGrants,
  type Actor,
  type ActingPrincipal,
  type Grant,
  type Permission,
} from '#api/access';
import type { ListPage, PageRequest } from '#api/json-api';
import { selectVisiblePrincipal } from '#identity/people';

/** The JSON:API types of resources that can be recovered. */
export const RECOVERABLE_KINDS = ['workspaces', 'projects', 'varsets', 'registry-providers'] as const;
export type RecoverableKind = (typeof RECOVERABLE_KINDS)[number];

export type RecoverableItemRow = {
  readonly id: string;
  readonly kind: RecoverableKind;
  readonly organization: string;
  readonly project: string | null;
  readonly name: string;
  /** Whether the deletion required the permission to force it. */
  readonly isForced: boolean;
  readonly allowsForceDelete: boolean;
  /** Null if the caller may not see who it was. */
  readonly deletedBy: ActingPrincipal | null;
  readonly deletedAt: Timestamp;
  readonly recoverableUntil: Timestamp;
  readonly grants: readonly Grant[];
  /** Whether the project of the item is gone. */
  readonly isOrphan: boolean;
  /** Access of the caller's teams to the default project. */
  readonly newProjectGrants: readonly Grant[];
};

type DeletedKind = { readonly permission: Permission; readonly select: (actor: Actor) => Sql };

const DELETED: Readonly<Record<RecoverableKind, DeletedKind>> = {
  workspaces: {
    permission: 'delete-workspace',
    select: (actor) => sql`
      select d.id, d.organization, d.project, d.name, d.forced, d.deleted_by, d.deleted_at, d.recoverable_until,
             ${selectWorkspaceGrants(actor, 'd')} as grants
        from (select deleted_workspaces.*, contents -> 'settings' as settings from deleted_workspaces) d
       where d.organization = owner.id`,
  },
  projects: {
    permission: 'delete-project',
    select: (actor) => sql`
      select d.id, d.organization, null::text as project, d.name, false as forced, d.deleted_by, d.deleted_at,
             d.recoverable_until, ${selectProjectGrants(actor, sql.raw('d.id'))} as grants
        from deleted_projects d where d.organization = owner.id`,
  },
  varsets: {
    permission: 'manage-variable-sets',
    select: (actor) => sql`
      select d.id, d.organization, d.project, d.name, false as forced, d.deleted_by, d.deleted_at,
             d.recoverable_until, ${selectProjectGrants(actor, sql.raw('d.project'))} as grants
        from (select s.*, contents ->> 'project' as project from deleted_variable_sets s) d
       where d.organization = owner.id and d.deleted_with is null`,
  },
  'registry-providers': {
    permission: 'manage-providers',
    select: () => sql`
      select d.id, d.organization, null::text as project,
             coalesce(d.contents ->> 'namespace' || '/', '') || d.name as name, false as forced,
             d.deleted_by, d.deleted_at, d.recoverable_until, '[]'::jsonb as grants
        from deleted_registry_providers d where d.organization = owner.id`,
  },
};

/** Selects what was deleted in `owner` and the caller may recover. */
const selectRecoverable = (actor: Actor, kinds: readonly RecoverableKind[]): Sql =>
  sql.join(
    kinds.map((kind) => {
      const { permission, select } = DELETED[kind];
      const scope = { organization: sql.raw('owner.id'), grants: sql.raw('item.grants') };
      return sql`select ${kind}::text as kind, item.* from (${select(actor)}) item
                  where ${isPermittedBy(actor, permission, scope)}`;
    }),
    ' union all ',
  );

/** Returns one page of the deleted resources that the caller may recover, the last deleted ones first. */
export const listRecoverableItems = (
  database: Database,
  actor: Actor,
  organization: string,
  { kinds, page }: { readonly kinds: readonly RecoverableKind[]; readonly page: PageRequest },
): Promise<ListPage<RecoverableItemRow>> =>
  listInOrganization(
    database,
    actor,
    {
      organization,
      permission: 'read-organization',
      columns: sql`i.id, i.kind, i.organization, i.project, i.name, i.forced as "isForced",
        (select (o.settings ->> 'allowForceDeleteWorkspaces')::boolean from organizations o
          where o.id = i.organization) as "allowsForceDelete",
        ${selectVisiblePrincipal(actor, sql.raw('i.deleted_by'), sql.raw('i.organization'))} as "deletedBy",
        i.deleted_at as "deletedAt", i.recoverable_until as "recoverableUntil", i.grants,
        i.project is not null and not exists (select from projects p where p.id = i.project) as "isOrphan",
        (select ${selectProjectGrants(actor, sql.raw('o.default_project'))} from organizations o
          where o.id = i.organization) as "newProjectGrants"`,
      from: sql`from (${selectRecoverable(actor, kinds)}) i`,
      where: sql.raw('true'),
      order: sql.raw('"deletedAt" desc, id'),
    },
    page,
  );
