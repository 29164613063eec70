import { z } from 'zod';
import {
  defineEvents,
  notFound,
  pickChanged,
  toAttributeName,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { listPublisherArchives } from './publisher-archives.js';
import {
  checkArchives,
  completeArchive,
  toolArchiveSchema,
  type PartialArchive,
  type RequestedArchive,
  type ToolArchive,
} from './tool-archives.js';

/** The programs of which administrators of the site manage releases. `terraform` stands for Terraform and OpenTofu. */
export type ToolProgram = 'terraform' | 'opa';

/** A site has few releases of its own, so that one stream of each program decides whether a version is taken. */
export const TOOL_VERSION_STREAMS: Readonly<Record<ToolProgram, string>> = { terraform: 'tool-site', opa: 'tool-opa' };

/** Each change stores all versions as the snapshot of the stream. */
const MAX_VERSIONS = 200;

const settingsSchema = z.strictObject({
  official: z.boolean(),
  enabled: z.boolean(),
  beta: z.boolean(),
  deprecated: z.boolean(),
  deprecatedReason: z.string().nullable(),
  archs: z.array(toolArchiveSchema).readonly(),
});
export type ToolVersionSettings = Readonly<Omit<z.infer<typeof settingsSchema>, 'archs'>> & {
  readonly archs: readonly ToolArchive[];
};

const OF_SITE = { site: 'without-organization' } as const;

type Identified = { readonly id: string; readonly version: string };

const release = { id: z.string(), version: z.string() };

const GROUP = {
  topic: 'workspaces',
  stream: 'tool',
  live: { unsent: 'an event of the site' },
  notImported: 'the releases belong to a site',
} as const;

const added = {
  schema: z.strictObject({ ...release, settings: settingsSchema }),
  audit: {
    ...OF_SITE,
    action: 'create',
    id: ({ id }: Identified) => id,
    meta: ({ version }: Identified) => ({ version }),
  },
} as const;

const changed = {
  schema: z.strictObject({
    ...release,
    settings: settingsSchema,
    /** Names of the changed settings, and `version`. */
    changed: z.array(z.string()),
  }),
  audit: {
    ...OF_SITE,
    action: 'update',
    id: ({ id }: Identified) => id,
    meta: ({ version, changed: names }: Identified & { readonly changed: readonly string[] }) => ({
      version,
      attributes: names.map(toAttributeName),
    }),
  },
} as const;

const deleted = {
  schema: z.strictObject(release),
  audit: {
    ...OF_SITE,
    action: 'destroy',
    id: ({ id }: Identified) => id,
    meta: ({ version }: Identified) => ({ version }),
  },
} as const;

/** Changes of releases by administrators of the site: releases that the server lists, and releases of the site. */
export const toolVersionEvents = {
  ...defineEvents(
    { ...GROUP, audited: 'terraform_version' },
    {
      ToolVersionAdded: added,
      ToolVersionChanged: changed,
      ToolVersionDeleted: deleted,
    },
  ),
  ...defineEvents(
    { ...GROUP, audited: 'opa_version' },
    {
      OpaVersionAdded: added,
      OpaVersionChanged: changed,
      OpaVersionDeleted: deleted,
    },
  ),
};

export type ToolVersionEvent = EventsOf<typeof toolVersionEvents>;

/** A release, as the site has it. */
type ToolVersionState = { readonly version: string; readonly settings: ToolVersionSettings };

/** A release that the server or a setting lists: administrators change it, but cannot rename or delete it. */
type ListedRelease = ToolVersionState;

const EVENT_TYPES = {
  terraform: { added: 'ToolVersionAdded', changed: 'ToolVersionChanged', deleted: 'ToolVersionDeleted' },
  opa: { added: 'OpaVersionAdded', changed: 'OpaVersionChanged', deleted: 'OpaVersionDeleted' },
} as const;

/** Changed settings of a version. `archive`: a part of the archive that `url` and `sha` show. */
export type ToolVersionChanges = Partial<Omit<ToolVersionSettings, 'archs'>> & {
  readonly archs?: readonly RequestedArchive[];
  readonly version?: string;
  readonly archive?: PartialArchive;
};

/** The workspaces that name a version, and the runs with it that have not ended. */
export type ToolVersionUses = { readonly workspaces: number; readonly runs: number };

export const NO_USES: ToolVersionUses = { workspaces: 0, runs: 0 };

type ToolVersionCommand =
  | Message<'AddToolVersion', ToolVersionState & { program: ToolProgram; id: string; isListed: boolean }>
  | Message<
      'ChangeToolVersion',
      {
        program: ToolProgram;
        id: string;
        changes: ToolVersionChanges;
        listed: ListedRelease | null;
        /** Whether another release with the new version is listed. */
        isListed: boolean;
        uses: ToolVersionUses;
      }
    >
  | Message<
      'DeleteToolVersion',
      { program: ToolProgram; id: string; listed: ListedRelease | null; uses: ToolVersionUses }
    >;

/** Releases by id. */
type ToolVersionsState = { readonly versions: Readonly<Record<string, ToolVersionState>> };

/** An id in a path can be the name of a member of every object, such as `__proto__`. */
const findVersion = ({ versions }: ToolVersionsState, id: string): ToolVersionState | undefined =>
  Object.hasOwn(versions, id) ? versions[id] : undefined;

const refuseTaken = (version: string) => unprocessable(`Version ${version} exists already`, 'version');

const requireFree = (version: string, isListed: boolean, { versions }: ToolVersionsState): void => {
  if (isListed || Object.values(versions).some((other) => other.version === version)) throw refuseTaken(version);
};

const checkSettings = (program: ToolProgram, { archs, deprecated, deprecatedReason }: ToolVersionSettings): void => {
  if (!deprecated && deprecatedReason !== null)
    throw unprocessable('Deprecated reason is only valid for deprecated versions', 'deprecated-reason');
  // Executors verify releases of OPA by these checksums only: no key signs them.
  if (program === 'opa' && archs.length === 0)
    throw unprocessable('Archs: a version of OPA needs at least one archive, or url and sha', 'archs');
};

/** Returns the changed settings and the changed version. `published`: the archives of the publisher. */
const findChanges = (
  { archive, archs, ...changes }: ToolVersionChanges,
  present: ToolVersionState,
  published: readonly RequestedArchive[],
) =>
  pickChanged(
    { ...present.settings, version: present.version },
    {
      ...changes,
      ...(archive && { archs: completeArchive(archive, present.settings.archs) }),
      ...(archs && { archs: checkArchives(archs, published) }),
    },
  );

/** Keeps a release in the state. */
const keepVersion = ({ id, version, settings }: ToolVersionState & Identified, { versions }: ToolVersionsState) => ({
  versions: { ...versions, [id]: { version, settings } },
});

const removeVersion = ({ id }: Identified, { versions }: ToolVersionsState) => ({
  versions: Object.fromEntries(Object.entries(versions).filter(([other]) => other !== id)),
});

const describeNumber = (number: number, one: string, several: string): readonly string[] =>
  number === 0 ? [] : [number === 1 ? `1 ${one}` : `${number} ${several}`];

/** Returns why a version must stay as it is; null if nothing uses it. */
const describeUses = ({ workspaces, runs }: ToolVersionUses): string | null =>
  [
    ...describeNumber(workspaces, 'workspace has it', 'workspaces have it'),
    ...describeNumber(runs, 'run with it has not ended', 'runs with it have not ended'),
  ].join(', and ') || null;

const checkRename = (
  version: string,
  {
    listed,
    isListed,
    uses,
  }: { readonly listed: ListedRelease | null; readonly isListed: boolean; readonly uses: ToolVersionUses },
  present: ToolVersionState,
  state: ToolVersionsState,
): void => {
  if (listed)
    throw unprocessable(`Version cannot change: ${present.version} is a release that the server lists`, 'version');
  const reason = describeUses(uses);
  if (reason !== null) throw unprocessable(`Version cannot change: ${reason}`, 'version');
  requireFree(version, isListed, state);
};

export const toolVersions: Decider<ToolVersionsState, ToolVersionCommand, ToolVersionEvent> = {
  version: 1,
  initial: { versions: {} },
  decide: {
    AddToolVersion: ({ program, isListed, ...added }, state) => {
      requireFree(added.version, isListed, state);
      if (Object.keys(state.versions).length >= MAX_VERSIONS)
        throw unprocessable(`Version cannot be added: a site has at most ${MAX_VERSIONS} of them`, 'version');
      checkSettings(program, added.settings);
      return [{ type: EVENT_TYPES[program].added, data: added }];
    },
    ChangeToolVersion: ({ program, id, changes, ...context }, state) => {
      const present = findVersion(state, id) ?? context.listed;
      if (!present) throw notFound();
      const isPublished = program === 'terraform' && context.listed?.settings.official === true;
      const published = isPublished ? listPublisherArchives(present.version) : [];
      const { version, ...settings } = findChanges(changes, present, published);
      if (version !== undefined) checkRename(version, context, present, state);
      if (context.listed?.settings.official && settings.official === false)
        throw unprocessable('Official must be true for a release that the server lists', 'official');
      const names = Object.keys({ ...settings, ...(version === undefined ? {} : { version }) });
      if (names.length === 0) return [];
      const all = { ...present.settings, ...settings };
      checkSettings(program, all);
      const data = { id, version: version ?? present.version, settings: all, changed: names };
      return [{ type: EVENT_TYPES[program].changed, data }];
    },
    DeleteToolVersion: ({ program, id, listed, uses }, state) => {
      const present = findVersion(state, id) ?? listed;
      if (!present) throw notFound();
      const { version, settings } = present;
      if (listed)
        throw unprocessable(`${version} cannot be deleted: the server or a setting lists it. Disable it instead`);
      if (settings.official) throw unprocessable(`${version} is official, so it cannot be deleted`);
      const reason = describeUses(uses);
      if (reason !== null) throw unprocessable(`${version} cannot be deleted: ${reason}`);
      return [{ type: EVENT_TYPES[program].deleted, data: { id, version } }];
    },
  },
  evolve: {
    ToolVersionAdded: keepVersion,
    ToolVersionChanged: keepVersion,
    ToolVersionDeleted: removeVersion,
    OpaVersionAdded: keepVersion,
    OpaVersionChanged: keepVersion,
    OpaVersionDeleted: removeVersion,
  },
};
