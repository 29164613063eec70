import { z } from 'zod';
import type { AddedMembers, EventKinds } from '#kernel';
import {
  PROJECT_FIELDS,
  PROJECT_LEVELS,
  WORKSPACE_FIELDS,
  WORKSPACE_LEVELS,
  type CustomProjectAccess,
  type WorkspaceAccess,
} from '#access';
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

/** Null for access that is not custom. */
const WITH_POLICY_OVERRIDES: readonly AddedMembers[] = [{ to: 'custom', add: { policyOverrides: false } }];

type GrantedAccess = { readonly teamName: string; readonly access: string };
const describeGranted = ({ teamName, access }: GrantedAccess) => ({ team: teamName, permissions: access });
const describeRevoked = ({ teamName }: Pick<GrantedAccess, 'teamName'>) => ({ team: teamName });

/** Schemas, topics and audit entries of team access. The audit trail records it at the workspace or project. */
export const teamAccessEvents: EventKinds<TeamWorkspaceEvent | TeamProjectEvent> = {
  TeamWorkspaceAdded: {
    schemaVersion: 2,
    upcast: { 1: WITH_POLICY_OVERRIDES },
    topic: 'access',
    schema: onWorkspace.extend({ team: z.string() }),
    audit: { resource: 'workspace', action: 'add_team', id: ({ workspace }) => workspace, meta: describeGranted },
  },
  TeamWorkspaceUpdated: {
    schemaVersion: 2,
    upcast: { 1: WITH_POLICY_OVERRIDES },
    topic: 'access',
    schema: onWorkspace,
    audit: {
      resource: 'workspace',
      action: 'update_team_permissions',
      id: ({ workspace }) => workspace,
      meta: describeGranted,
    },
  },
  TeamWorkspaceRemoved: {
    schemaVersion: 1,
    topic: 'access',
    schema: onWorkspace.pick({ workspace: true, teamName: true }),
    audit: { resource: 'workspace', action: 'remove_team', id: ({ workspace }) => workspace, meta: describeRevoked },
  },
  TeamProjectAdded: {
    schemaVersion: 2,
    upcast: { 1: WITH_POLICY_OVERRIDES },
    topic: 'access',
    schema: onProject.extend({ team: z.string() }),
    audit: { resource: 'project', action: 'add_team', id: ({ project }) => project, meta: describeGranted },
  },
  TeamProjectUpdated: {
    schemaVersion: 2,
    upcast: { 1: WITH_POLICY_OVERRIDES },
    topic: 'access',
    schema: onProject,
    audit: {
      resource: 'project',
      action: 'update_team_permissions',
      id: ({ project }) => project,
      meta: describeGranted,
    },
  },
  TeamProjectRemoved: {
    schemaVersion: 1,
    topic: 'access',
    schema: onProject.pick({ project: true, teamName: true }),
    audit: { resource: 'project', action: 'remove_team', id: ({ project }) => project, meta: describeRevoked },
  },
};
