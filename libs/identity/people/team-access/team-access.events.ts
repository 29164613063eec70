import { z } from 'zod';
import { defineEvents, type AddedMembers, type EventKinds, type IdSource, type LiveResource } from '#platform/kernel';
import {
  onResource,
  PROJECT_FIELDS,
  PROJECT_LEVELS,
  WORKSPACE_FIELDS,
  WORKSPACE_LEVELS,
  type CustomProjectAccess,
  type WorkspaceAccess,
} from '#api/access';
import type { TeamProjectEvent } from './team-project.js';
import type { TeamWorkspaceEvent } from './team-workspace.js';

const inWorkspaces = {
  runs: z.enum(WORKSPACE_FIELDS.runs),
  variables: z.enum(WORKSPACE_FIELDS.variables),
  stateVersions: z.enum(WORKSPACE_FIELDS.stateVersions),
  sentinelMocks: z.enum(WORKSPACE_FIELDS.sentinelMocks),
  runTasks: z.boolean(),
  policyOverrides: z.boolean(),
};

const onWorkspace = z.strictObject({
  workspace: z.string(),
  teamName: z.string(),
  access: z.enum(WORKSPACE_LEVELS),
  custom: (
    z.strictObject({ ...inWorkspaces, workspaceLocking: z.boolean() }) satisfies z.ZodType<WorkspaceAccess>
  ).nullable(),
});

const onProject = z.strictObject({
  project: z.string(),
  teamName: z.string(),
  access: z.enum(PROJECT_LEVELS),
  custom: (
    z.strictObject({
      ...inWorkspaces,
      create: z.boolean(),
      locking: z.boolean(),
      delete: z.boolean(),
      move: z.boolean(),
      project: z.strictObject({
        settings: z.enum(PROJECT_FIELDS.settings),
        teams: z.enum(PROJECT_FIELDS.teams),
        variableSets: z.enum(PROJECT_FIELDS.variableSets),
      }),
    }) satisfies z.ZodType<CustomProjectAccess>
  ).nullable(),
});

/** `custom` is null for access that is not custom. */
const WITH_POLICY_OVERRIDES: readonly AddedMembers[] = [{ to: 'custom', add: { policyOverrides: false } }];

type GrantedAccess = { readonly teamName: string; readonly access: string };
const describeGranted = ({ teamName, access }: GrantedAccess) => ({ team: teamName, permissions: access });
const describeRevoked = ({ teamName }: Pick<GrantedAccess, 'teamName'>) => ({ team: teamName });

const teamAccess =
  (target: 'workspace' | 'project'): LiveResource =>
  (word) => {
    const team: IdSource = word === 'created' ? { field: 'team' } : { first: 'team' };
    const id: IdSource = { field: target };
    return { ...onResource(`team-${target}s`, { in: 'team-access', target, id, team })(word), access: { team } };
  };

/** The events of team access. The audit trail records them at the workspace or project. */
export const teamAccessEvents = {
  ...defineEvents(
    {
      topic: 'access',
      stream: 'tws',
      audited: 'workspace',
      live: teamAccess('workspace'),
    },
    {
      TeamWorkspaceAdded: {
        schemaVersion: 2,
        upcast: { 1: WITH_POLICY_OVERRIDES },
        schema: onWorkspace.extend({ team: z.string() }),
        audit: { action: 'add_team', id: ({ workspace }) => workspace, meta: describeGranted },
        live: 'created',
        ids: { refersTo: { workspace: ['ws'], team: ['team'] } },
      },
      TeamWorkspaceUpdated: {
        schemaVersion: 2,
        upcast: { 1: WITH_POLICY_OVERRIDES },
        schema: onWorkspace,
        audit: { action: 'update_team_permissions', id: ({ workspace }) => workspace, meta: describeGranted },
        live: 'changed',
        ids: { refersTo: { workspace: ['ws'] } },
      },
      TeamWorkspaceRemoved: {
        schema: onWorkspace.pick({ workspace: true, teamName: true }),
        audit: { action: 'remove_team', id: ({ workspace }) => workspace, meta: describeRevoked },
        live: 'deleted',
        ids: { refersTo: { workspace: ['ws'] } },
      },
    },
  ),
  ...defineEvents(
    { topic: 'access', stream: 'tprj', audited: 'project', live: teamAccess('project') },
    {
      TeamProjectAdded: {
        schemaVersion: 2,
        upcast: { 1: WITH_POLICY_OVERRIDES },
        schema: onProject.extend({ team: z.string() }),
        audit: { action: 'add_team', id: ({ project }) => project, meta: describeGranted },
        live: 'created',
        ids: { refersTo: { project: ['prj'], team: ['team'] } },
      },
      TeamProjectUpdated: {
        schemaVersion: 2,
        upcast: { 1: WITH_POLICY_OVERRIDES },
        schema: onProject,
        audit: { action: 'update_team_permissions', id: ({ project }) => project, meta: describeGranted },
        live: 'changed',
        ids: { refersTo: { project: ['prj'] } },
      },
      TeamProjectRemoved: {
        schema: onProject.pick({ project: true, teamName: true }),
        audit: { action: 'remove_team', id: ({ project }) => project, meta: describeRevoked },
        live: 'deleted',
        ids: { refersTo: { project: ['prj'] } },
      },
    },
  ),
} satisfies EventKinds<TeamWorkspaceEvent | TeamProjectEvent>;
